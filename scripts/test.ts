/**
 * `make test` (ARGS="…"). Static checks first, then the suites; the last line is `N passed, N failed`, a static check counts as one test.
 *   (nothing)         what to run before each push, and what CI runs: static checks, unit and integration tests, one call
 *   --all             also the slow suites, the other calls and the end-to-end tests: all there are
 *   --changed [ref]   static checks and tests of what differs from `ref` (the main branch by default)
 *   --checks-only     the static checks
 *   anything else     goes to vitest: a path, `-t name`, `--project unit`; options alone (`--sequence.shuffle`) with the suites of (nothing)
 */
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';

import { watchMachine } from '../test/bench/harness/machine.ts';
import { treeCpuMs } from '../test/bench/harness/process-tree.ts';
import { changedFiles, relatedTests } from './changed.ts';
import type { TestTotals } from './totals-reporter.ts';

interface Check {
  readonly name: string;
  readonly command: readonly string[];
  /** Command that mends it. */
  readonly cure?: string;
}

const CHECKS: readonly Check[] = [
  { name: 'format', command: ['oxfmt', '--check', '.'], cure: 'npm run format' },
  { name: 'lint', command: ['oxlint', '--type-aware', '.'], cure: 'npm run lint -- --fix' },
  { name: 'imports', command: ['node', 'scripts/check-imports.ts'], cure: 'move what both need into a folder below: docs/architecture.md' },
  { name: 'types', command: ['tsc', '-p', '.'] },
  { name: 'types of what runs in browsers', command: ['tsc', '-p', 'api/call-page/browser'] },
  { name: 'generated files', command: ['node', 'scripts/generate.ts', '--check'], cure: 'npm run generate' },
  { name: 'unused code and dependencies', command: ['knip'] },
];

/** Projects that run before each push, and with `--all`. The end-to-end tests have a run of their own, for their stack starts with it. */
const BEFORE_PUSH = ['unit', 'integration', 'call'];
const ALL = [[...BEFORE_PUSH, 'slow', 'voice'], ['e2e']];

/** The suites start roles and commands from the bundle, as users do. */
const ENTRY = join(process.cwd(), 'dist/parley.mjs');

interface Finished {
  readonly ok: boolean;
  readonly output: string;
}

function run(
  command: readonly string[],
  options: { readonly env?: NodeJS.ProcessEnv; readonly inherit?: boolean } = {},
): Promise<Finished> {
  return new Promise((resolve) => {
    const [file = '', ...args] = command;
    const child = spawn(file, args, {
      env: { ...process.env, ...options.env },
      stdio: ['ignore', options.inherit ? 'inherit' : 'pipe', options.inherit ? 'inherit' : 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.on('error', (error) => resolve({ ok: false, output: error.message }));
    child.on('close', (code) => resolve({ ok: code === 0, output }));
  });
}

const nothingRan = (failure: string): TestTotals => ({ passed: 0, skipped: [], files: [], failures: [failure] });

async function runChecks(): Promise<TestTotals> {
  const failures: string[] = [];
  await run(['node', 'scripts/client-types.ts']);
  const running = CHECKS.map((check) => ({ ...check, finished: run(check.command) }));
  for (const { name, cure, finished } of running) {
    const { ok, output } = await finished;
    process.stdout.write(`${ok ? '✓' : '✗'} ${name}\n`);
    if (ok) continue;
    failures.push(name);
    process.stdout.write(`${output}\n${cure === undefined ? '' : `  → ${cure}\n`}`);
  }
  return { passed: CHECKS.length - failures.length, skipped: [], files: [], failures };
}

async function runSuites(args: readonly string[]): Promise<TestTotals> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-test-'));
  const totalsFile = join(folder, 'totals.json');
  try {
    const { ok } = await run(['vitest', 'run', ...args], {
      env: { PARLEY_TEST_TOTALS: totalsFile, PARLEY_TEST_ENTRY: ENTRY },
      inherit: true,
    });
    const totals = JSON.parse(await readFile(totalsFile, 'utf8')) as TestTotals;
    return !ok && totals.failures.length === 0 ? { ...totals, failures: ['vitest ended with an error'] } : totals;
  } catch {
    return nothingRan('the suites ended without a report');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Returns the runs of vitest that the arguments ask for, each with its arguments. */
function suiteRuns(args: readonly string[]): readonly (readonly string[])[] {
  const projects = (names: readonly string[]) => names.flatMap((name) => ['--project', name]);
  const [first, ref] = args;
  if (first === undefined) return [projects(BEFORE_PUSH)];
  if (first === '--checks-only') return [];
  if (first === '--all') return ALL.map(projects);
  if (first !== '--changed') {
    const picksNone = args.every((arg) => arg.startsWith('-') && !arg.startsWith('--project'));
    return [picksNone ? [...projects(BEFORE_PUSH), ...args] : args];
  }
  const { chosen, left, leftToAll } = relatedTests(changedFiles(ref));
  process.stdout.write(
    `${chosen.length} test files for what has changed; ${left} more are left to make test, ${leftToAll} to make test ARGS=--all\n`,
  );
  return chosen.length === 0 ? [] : [[...projects(BEFORE_PUSH), ...chosen]];
}

const machine = await watchMachine();
const pauses = monitorEventLoopDelay({ resolution: 50 });
pauses.enable();
const args = process.argv.slice(2);
const ownArgs = args.length === 0 || ['--all', '--changed', '--checks-only'].includes(args[0] ?? '');
const results: TestTotals[] = [];
if (ownArgs) results.push(await runChecks());
const runs = suiteRuns(args);
if (runs.length > 0) {
  const build = await run(['node', 'scripts/build.ts'], { inherit: true });
  if (build.ok) for (const one of runs) results.push(await runSuites(one));
  else results.push(nothingRan('node scripts/build.ts'));
}

const slowest = results.flatMap(({ files }) => files).toSorted((a, b) => b.ms - a.ms);
if (ownArgs && slowest.length > 0) {
  process.stdout.write('\nThe slowest files:\n');
  for (const { path, ms } of slowest.slice(0, 10)) process.stdout.write(`${(ms / 1000).toFixed(1).padStart(8)} s  ${path}\n`);
  const { idleShare, stealShare } = await machine();
  const percent = (share: number | undefined): string => (share === undefined ? 'unknown' : `${Math.round(100 * share)} %`);
  const cpuMs = treeCpuMs(process.pid);
  // Shows how slow the machine was: a test may fail only on one that is slower by far.
  process.stdout.write(
    `\nProcessor time of all processes ${cpuMs === undefined ? 'unknown' : `${(cpuMs / 60_000).toFixed(1)} minutes`}; processors idle ${percent(idleShare)}, taken by others ${percent(stealShare)}; longest pause of this process ${(pauses.max / 1e9).toFixed(1)} s\n`,
  );
}
const skipped = results.flatMap((one) => one.skipped);
// The complete run leaves nothing out where the servers of production run.
const maySkip = args[0] !== '--all' || process.platform !== 'linux';
const failures = [...results.flatMap((one) => one.failures), ...(maySkip ? [] : skipped.map((name) => `skipped: ${name}`))];
if (failures.length > 0)
  process.stdout.write(`\nFailed:\n${failures.map((failure) => `  ${failure.replaceAll('\n', '\n    ')}\n`).join('')}`);
const passed = results.reduce((total, one) => total + one.passed, 0);
const more = skipped.length > 0 ? `, ${skipped.length} skipped` : '';
process.stdout.write(`\n${passed} passed, ${failures.length} failed${more}\n`);
process.exitCode = failures.length === 0 ? 0 : 1;
