/**
 * Everything a contributor has to pass: `npm test`. First the static checks, side by side, then the suites.
 * The last line is `N passed, N failed`; a static check counts as one test.
 * Arguments are handed to vitest (a path, `-t name`); with any, the static checks are left out.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface Check {
  readonly name: string;
  readonly command: readonly string[];
  /** What to run to mend it. */
  readonly cure?: string;
}

const checks: readonly Check[] = [
  { name: 'format', command: ['oxfmt', '--check', '.'], cure: 'npm run format' },
  { name: 'lint', command: ['oxlint', '--type-aware', '.'], cure: 'npm run lint -- --fix' },
  { name: 'imports', command: ['node', 'scripts/check-imports.ts'], cure: 'move what both need into a folder below: docs/architecture.md' },
  { name: 'types', command: ['tsc', '-p', '.'] },
  { name: 'types of what runs in browsers', command: ['tsc', '-p', 'api/call-page/browser'] },
  { name: 'generated files', command: ['node', 'scripts/generate.ts', '--check'], cure: 'npm run generate' },
  { name: 'unused code and dependencies', command: ['knip'] },
];

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

async function runChecks(): Promise<number> {
  let failed = 0;
  for (const check of checks) {
    const { ok, output } = await run(check.command);
    process.stdout.write(`${ok ? '✓' : '✗'} ${check.name}\n`);
    if (ok) continue;
    failed += 1;
    process.stdout.write(`${output}\n${check.cure === undefined ? '' : `  → ${check.cure}\n`}`);
  }
  return failed;
}

const args = process.argv.slice(2);
const onlyChecks = args.includes('--checks-only');
const total = { passed: 0, failed: 0, skipped: 0 };

if (args.length === 0 || onlyChecks) {
  total.failed = await runChecks();
  total.passed = checks.length - total.failed;
}

if (!onlyChecks) {
  const build = await run(['node', 'scripts/build.ts'], { inherit: true });
  const folder = await mkdtemp(join(tmpdir(), 'parley-test-'));
  const totalsFile = join(folder, 'totals.json');
  const suites = build.ok
    ? await run(['vitest', 'run', ...args], {
        env: { PARLEY_TEST_TOTALS: totalsFile },
        inherit: true,
      })
    : build;
  try {
    const counted = JSON.parse(await readFile(totalsFile, 'utf8')) as typeof total;
    total.passed += counted.passed;
    total.failed += counted.failed;
    total.skipped += counted.skipped;
  } catch {
    process.stdout.write('the suites ended without a report\n');
    total.failed += 1;
  }
  if (!suites.ok && total.failed === 0) total.failed = 1;
  await rm(folder, { recursive: true, force: true });
}

process.stdout.write(`\n${total.passed} passed, ${total.failed} failed${total.skipped > 0 ? `, ${total.skipped} skipped` : ''}\n`);
process.exitCode = total.failed === 0 ? 0 : 1;
