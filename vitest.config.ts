import { fileURLToPath } from 'node:url';

import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

import { mulberry } from './platform/mulberry.ts';
import { TotalsReporter } from './scripts/totals-reporter.ts';

// Hundreds of commands and roles are started: they start in half the processor time with what Node has compiled before.
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(new URL('node_modules/.cache/compiled', import.meta.url));
// The servers, most of them in Go, collect garbage less often: a sixth less processor time of the API server.
process.env['GOGC'] ??= '400';

const source = [
  'agent-tests',
  'api',
  'test/bench',
  'calls',
  'cli',
  'clients',
  'crds',
  'events',
  'knowledge',
  'kube',
  'local-stack',
  'operator',
  'platform',
  'scripts',
  'store',
  'voice',
  'webhooks',
  'workflows',
  'test/node',
  'test/simulated-calls',
  'test/support',
];

/**
 * Begins with the suites that wait longest: the others fill the processors meanwhile. With `--sequence.shuffle` the files come in a random
 * order; the tests of a file keep theirs, for some tell a story.
 */
class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { shuffle, seed } = this.ctx.config.sequence;
    if (shuffle === true) {
      for (const { config } of this.ctx.projects) config.sequence.shuffle = false;
      const next = mulberry(seed);
      return files
        .map((file) => ({ file, at: next() }))
        .toSorted((one, other) => one.at - other.at)
        .map(({ file }) => file);
    }
    const sorted = await super.sort(files);
    return [...sorted.filter(({ project }) => project.name === 'slow'), ...sorted.filter(({ project }) => project.name !== 'slow')];
  }
}

/** These suites make calls. */
const calls = ['test/integration/{cli-call,voice}/**/*.test.ts'];

/** This call has everything in it, for the runs without the `voice` project. */
const TALKING_CALL = 'test/integration/voice/conversation.test.ts';

/** Generous limits, because a busy machine is slow, not wrong. No suite has a second try. */
const waiting = {
  testTimeout: 600_000,
  hookTimeout: 600_000,
  teardownTimeout: 60_000,
  // The limit is as long as that of `eventually`: it distinguishes "never" from "not yet".
  expect: { poll: { timeout: 300_000 } },
};

/** These suites start servers. */
const withServers = {
  ...waiting,
  setupFiles: ['test/support/random-tests.ts'],
};

export default defineConfig({
  test: {
    maxWorkers: 2,
    // Files share what their worker has imported: to import it for each took more processor time than the tests.
    isolate: false,
    reporters: ['default', new TotalsReporter()],
    coverage: { provider: 'v8', include: source.map((folder) => `${folder}/**/*.ts`), exclude: ['**/*.test.ts'] },
    // One set of servers for all projects; each starts when a test first asks for it.
    globalSetup: ['test/support/global-setup.ts'],
    sequence: { sequencer: SlowFirst },
    projects: [
      {
        test: {
          name: 'unit',
          include: source.map((folder) => `${folder}/**/*.test.ts`),
          ...waiting,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          exclude: [...calls, '**/*.slow.test.ts'],
          ...withServers,
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          // Faults, kills, whole installations and thousands of random inputs are for the complete run.
          name: 'slow',
          include: ['test/integration/**/*.slow.test.ts'],
          ...withServers,
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'call',
          include: [TALKING_CALL],
          ...withServers,
          isolate: true,
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          // LiveKit's native client doesn't outlive many rooms.
          name: 'voice',
          include: calls,
          exclude: [TALKING_CALL],
          ...withServers,
          isolate: true,
          maxWorkers: 2,
          // To begin a call takes 0.4 s of a processor: many at once leave holes in the sound of each other.
          maxConcurrency: 3,
          sequence: { groupOrder: 3 },
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          globalSetup: ['test/e2e/global-setup.ts'],
          ...withServers,
          maxWorkers: 1,
          sequence: { groupOrder: 4 },
        },
      },
    ],
  },
});
