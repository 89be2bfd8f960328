import { readFileSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';

import { describe, expect, it } from 'vitest';

import { sourceFiles } from './changed.ts';
import { timeProblems } from './test-time.ts';

const root = join(import.meta.dirname, '..');

/** These files may depend on time all the same, for the reason. */
const EXCEPTED: Readonly<Record<string, string>> = {
  'platform/clock.test.ts': "its subject is Node's own timers",
  'test/support/eventually.ts': 'the one that waits: it polls',
  'test/support/stack.ts': 'a client that comes back when the server asks it to',
  // Speaking and hearing take their time.
  'test/support/test-caller.ts': 'speaks and listens in real time',
  'test/support/streamed-ears.ts': 'hears in real time',
  'test/integration/speech-apis/s*/*-{api,server}.ts': 'speaks and hears in real time',
  'test/integration/voice/stage.ts': 'says again what nobody has understood',
  'test/e2e/faults.test.ts': 'asks again while nobody answers',
  'test/integration/knowledge/embedding-servers.slow.test.ts': 'has a server that is late',
  'test/integration/knowledge/hostile-files-leftovers.slow.test.ts': 'breaks off at random moments',
};

const tests = sourceFiles().filter(
  (file) => /\.test\.ts$|^test\/(?:e2e|integration|support)\//.test(file) && file !== 'scripts/test-time.test.ts',
);

it('no test measures the machine, and none sleeps', () => {
  const problems = tests
    .filter((file) => !Object.keys(EXCEPTED).some((pattern) => matchesGlob(file, pattern)))
    .flatMap((file) => timeProblems(readFileSync(join(root, file), 'utf8')).map((problem) => `${file}:${problem}`));
  expect(problems).toEqual([]);
});

describe('a test', () => {
  it.each([
    ['const at = performance.now();', 'measures time'],
    ['const [s] = process.hrtime();', 'measures time'],
    ["import { monitorEventLoopDelay } from 'node:perf_hooks';", 'measures time'],
    ['const { user } = process.cpuUsage();', 'measures the machine'],
    ['const before = process.threadCpuUsage();', 'measures the machine'],
    ['expect(process.memoryUsage().rss).toBe(0);', 'measures the machine'],
    ["import { setTimeout as delay } from 'node:timers/promises';", 'sleeps'],
    ["import { setImmediate, setTimeout } from 'timers/promises';", 'sleeps'],
    ['await new Promise((resolve) => setTimeout(resolve, 20));', 'waits for time to pass'],
    ['setTimeout(() => response.end(), 20);', 'waits for time to pass'],
    ['await sleep(systemClock, 400);', 'sleeps'],
    ["await transaction.query('SELECT pg_sleep(1)');", 'sleeps'],
    ['expect(Date.now() - askedAt).toBeLessThan(2_000);', 'compares with the present time'],
    ['expect(at >= before && at <= Date.now()).toBe(true);', 'compares with the present time'],
    ['const began = Date.now();\nexpect(endedAt - began).toBeLessThanOrEqual(2_000);', 'compares with the present time'],
    ['const began: number = Date.now();\nexpect(\n  endedAt,\n).toBeGreaterThan(began);', 'compares with the present time'],
  ])('is found: %s', (source, problem) => {
    expect(timeProblems(source)).toEqual([expect.stringContaining(`: ${problem}`)]);
  });

  it.each([
    "import { setImmediate } from 'node:timers/promises';",
    'await new Promise((resolve) => setTimeout(resolve));',
    'clock.tick(20);\nawait sleep(clock, 20);',
    "vi.spyOn(performance, 'now').mockReturnValue(0);",
    "vi.useFakeTimers({ toFake: ['setTimeout'] });",
    'const at = Date.now();\nexpect(shown).toBe(new Date(at).toISOString());',
    'const clock = { now: () => Date.now() };\nexpect(count).toBeLessThan(clock.calls);',
    '// setTimeout(resolve, 20) would sleep.',
    ' * `performance.now()` at its end.',
  ])('is left alone: %s', (source) => {
    expect(timeProblems(source)).toEqual([]);
  });

  it('is told by its line', () => {
    expect(timeProblems('// one\nconst two = 2;\nperformance.now();\n')).toEqual([expect.stringMatching(/^3: /)]);
  });
});
