/**
 * Measures how many faults the unit tests notice: `node scripts/mutants.ts [--ref <commit>] [--count 200] [--seed 1] [--nearest 8] [folder…]`.
 * Changes one token at a time in a copy of the repository, runs the unit test files that import the file, at most `--nearest` of them,
 * and counts the changes that fail one. The same seed picks the same share of each folder's sites, so that two versions can be compared.
 * Tests that fail without a change are left out, and a change that runs out of time counts only if the same tests have time enough
 * without it.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';

import { mulberry } from '../platform/mulberry.ts';
import { checkOut } from '../test/upgrade/checkout.ts';
import { importersOf } from './changed.ts';
import { importsOf } from './imports.ts';

/** Each mutation changes the first group of what it matches. */
const MUTATIONS: readonly (readonly [RegExp, (token: string) => string])[] = [
  [/ (===|!==) /g, (token) => (token === '===' ? '!==' : '===')],
  [/ (&&|\|\|) /g, (token) => (token === '&&' ? '||' : '&&')],
  [/ (<=?|>=?) [\w(]/g, (token) => (token.length === 2 ? token.slice(0, 1) : `${token}=`)],
  [/\b(true|false)\b[,;)]/g, (token) => String(token !== 'true')],
  [/ ([+-]) [\w(]/g, (token) => (token === '+' ? '-' : '+')],
  [/(?<=\bif \()(!?)(?=[\w.]+\))/g, (token) => (token === '!' ? '' : '!')],
  [/\b(\d[\d_]*)\b[,;)]/g, (token) => `${Number(token.replaceAll('_', '')) + 1}`],
  [/\breturn (undefined|\[\]|'');/g, (token) => (token === 'undefined' ? 'null as never' : 'undefined as never')],
];

interface Site {
  readonly file: string;
  readonly at: number;
  readonly token: string;
  readonly mutant: string;
}

/** Finds places in code, not in comments, imports or types. */
function sitesOf(file: string, source: string): readonly Site[] {
  const code = source.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*|^import [\s\S]*?;$|^(export )?(type|interface) [\s\S]*?^[;}]/gm, (text) =>
    ' '.repeat(text.length),
  );
  return MUTATIONS.flatMap(([pattern, change]) =>
    [...code.matchAll(pattern)].map((match) => {
      const token = match[1] ?? '';
      return { file, at: match.index + match[0].indexOf(token), token, mutant: change(token) };
    }),
  );
}

function pick<T>(items: readonly T[], count: number, next: () => number): readonly T[] {
  const left = [...items];
  return Array.from({ length: Math.min(count, left.length) }, () => left.splice(Math.floor(next() * left.length), 1)).flat();
}

type Verdict = 'noticed' | 'missed' | 'out of time' | 'unknown';

const vitest = (copy: string, args: readonly string[], { testMs, allMs }: { readonly testMs: number; readonly allMs: number }) =>
  spawnSync(join(copy, 'node_modules/.bin/vitest'), ['run', '--project', 'unit', '--testTimeout', `${testMs}`, ...args], {
    cwd: copy,
    timeout: allMs,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });

function runTests(copy: string, tests: readonly string[]): Verdict {
  if (tests.length === 0) return 'missed';
  const { status, stdout } = vitest(copy, ['--bail', '1', ...tests], { testMs: 60_000, allMs: 600_000 });
  if (status === 0) return 'missed';
  return status === null || /timed out in \d+ms/.test(stdout) ? 'out of time' : 'noticed';
}

function failingFiles(copy: string, tests: readonly string[]): readonly string[] {
  const report = join(copy, 'report.json');
  vitest(copy, ['--reporter', 'json', '--outputFile', report, ...tests], { testMs: 600_000, allMs: 7_200_000 });
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as { testResults: readonly { name: string; status: string }[] };
  return testResults.filter(({ status }) => status !== 'passed').map(({ name }) => relative(copy, name));
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    ref: { type: 'string', default: 'HEAD' },
    count: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    nearest: { type: 'string', default: '8' },
  },
});
const folders = positionals.length > 0 ? positionals : ['operator', 'api/partial', 'webhooks', 'kube'];
const checkout = await checkOut(values.ref, (line) => process.stderr.write(`${line}\n`));
const copy = checkout.folder;
try {
  const read = (file: string): string => readFileSync(join(copy, file), 'utf8');
  const files = readdirSync(copy, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.startsWith('node_modules'),
  );
  const imports = files.flatMap((file) => importsOf(file, read(file)));
  const next = mulberry(Number(values.seed));
  const ofFolders = folders.map((folder) => {
    const sources = files.filter((file) => file.startsWith(`${folder}/`) && !/\.test\.ts$|\/testing\//.test(file)).toSorted();
    return pick(
      sources.flatMap((file) => sitesOf(file, read(file))),
      Math.ceil(Number(values.count) / folders.length),
      next,
    );
  });
  // Takes turns, so that a run that is cut short is a smaller sample of all folders.
  const sites = Array.from({ length: Number(values.count) }, (_, index) =>
    ofFolders.flatMap((some) => some.slice(index, index + 1)),
  ).flat();
  const testsOf = (source: string): readonly string[] =>
    [...importersOf([source], imports)]
      .filter(([file]) => file.endsWith('.test.ts') && !file.startsWith('test/') && !broken.has(file))
      .toSorted(([, a], [, b]) => a - b)
      .slice(0, Number(values.nearest))
      .map(([file]) => file);
  const broken = new Set<string>();
  for (const test of failingFiles(copy, [...new Set(sites.flatMap(({ file }) => testsOf(file)))])) {
    broken.add(test);
    process.stdout.write(`left out, fails without a change: ${test}\n`);
  }
  const verdicts = new Map<Site, Verdict>();
  for (const site of sites) {
    const { file, at, token, mutant } = site;
    const source = read(file);
    const tests = testsOf(file);
    writeFileSync(join(copy, file), source.slice(0, at) + mutant + source.slice(at + token.length));
    const verdict = runTests(copy, tests);
    writeFileSync(join(copy, file), source);
    const starved = verdict === 'out of time' && runTests(copy, tests) !== 'missed';
    verdicts.set(site, starved ? 'unknown' : verdict);
    const line = source.slice(0, at).split('\n').length;
    process.stdout.write(
      `${verdicts.size}/${sites.length} ${(verdicts.get(site) ?? '').padEnd(11)} ${file}:${line} ${token} → ${mutant}\n`,
    );
  }
  for (const folder of folders) {
    const known = [...verdicts].filter(([{ file }, verdict]) => file.startsWith(`${folder}/`) && verdict !== 'unknown');
    const noticed = known.filter(([, verdict]) => verdict !== 'missed').length;
    process.stdout.write(`${folder}: ${noticed} of ${known.length} noticed, ${((100 * noticed) / known.length).toFixed(0)} %\n`);
  }
} finally {
  await checkout.remove();
}
