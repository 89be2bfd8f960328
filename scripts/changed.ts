/** Finds what a change can break: the tests that import what has changed, by way of other files too. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';

import { importsOf, type Import } from './imports.ts';

/** Most integration files: about a minute's worth on two cores. */
const INTEGRATION_FILES = 6;

const lines = (...args: readonly string[]): readonly string[] =>
  execFileSync('git', args, { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line !== '');

/** Lists the TypeScript files of the working tree, new ones too. */
export const sourceFiles = (): readonly string[] =>
  lines('ls-files', '--cached', '--others', '--exclude-standard', '*.ts').filter((file) => existsSync(file));

/** Lists committed, staged, unstaged and new files that differ from where this branch left `ref` (main, or the checked-out branch). */
export function changedFiles(ref?: string): readonly string[] {
  const [main] = lines('for-each-ref', '--format=%(refname)', 'refs/heads/main', 'refs/remotes/origin/main');
  const [base = 'HEAD'] = lines('merge-base', ref ?? main ?? 'HEAD', 'HEAD');
  return [...new Set([...lines('diff', '--name-only', base), ...lines('ls-files', '--others', '--exclude-standard')])];
}

/** Finds every file that imports one of `changed`, with the number of imports between them. */
export function importersOf(changed: Iterable<string>, imports: readonly Import[]): ReadonlyMap<string, number> {
  const importers = new Map<string, string[]>();
  for (const { importer, imported } of imports) importers.set(imported, [...(importers.get(imported) ?? []), importer]);
  const distance = new Map([...changed].map((file) => [file, 0]));
  // A Map goes on with what is added while it is walked: breadth first.
  for (const [file, steps] of distance) {
    for (const importer of importers.get(file) ?? []) if (!distance.has(importer)) distance.set(importer, steps + 1);
  }
  return distance;
}

interface Source {
  readonly file: string;
  readonly text: string;
}

/** Finds files that name a folder, or else the nearest around it: tests name it from the root, others from where they are. */
function whoNames(folder: string, sources: readonly Source[]): readonly string[] {
  const naming = sources.filter(
    ({ file, text }) =>
      (dirname(file) !== folder && text.includes(`'${relative(dirname(file), folder)}'`)) ||
      (/^test\/|\.test\.ts$/.test(file) && (text.includes(`${folder}/`) || text.includes(`'${folder}'`))),
  );
  const around = dirname(folder);
  return naming.length > 0 || around === '.' ? naming.map(({ file }) => file) : whoNames(around, sources);
}

interface RelatedTests {
  readonly chosen: readonly string[];
  readonly left: number;
  readonly leftToAll: number;
}

/** Matches the suites of the run before a push; of those that make calls it is only one. */
const INTEGRATION = /^test\/integration\/(?!cli-call\/|voice\/(?!conversation\.)).*(?<!\.slow)\.test\.ts$/;

/**
 * Chooses unit tests that import a changed file, and integration tests: those of the changed folder, which may start what they don't
 * import, then the nearest. A file that is no TypeScript (a chart, a page, a migration) is imported by whoever names its folder.
 * @returns the test files to run, and how many suites are left to the run before a push and to the complete one
 */
export function relatedTests(changed: readonly string[]): RelatedTests {
  const files = sourceFiles();
  const sources = files.map((file) => ({ file, text: readFileSync(file, 'utf8') }));
  const naming = changed
    .filter((file) => !file.endsWith('.ts'))
    .flatMap((file) => whoNames(file.includes('/') ? dirname(file) : file, sources));
  const imports = sources.flatMap(({ file, text }) => importsOf(file, text));
  const distance = importersOf([...changed, ...naming], imports);
  const suites = new Set(changed.map((file) => `test/integration/${file.split('/')[0]}/`));
  const isOwn = (file: string): boolean => suites.has(file.slice(0, file.indexOf('/', 'test/integration/'.length) + 1));
  const far = (file: string): number => (isOwn(file) ? 0 : 1_000) + (distance.get(file) ?? 999);
  const unit = files.filter((file) => distance.has(file) && /^(?!test\/(integration|e2e)\/).*\.test\.ts$/.test(file));
  const related = files.filter((file) => (distance.has(file) || isOwn(file)) && /^test\/(integration|e2e)\/.*\.test\.ts$/.test(file));
  const integration = related.filter((file) => INTEGRATION.test(file));
  const nearest = integration.toSorted((a, b) => far(a) - far(b)).slice(0, INTEGRATION_FILES);
  return { chosen: [...unit, ...nearest], left: integration.length - nearest.length, leftToAll: related.length - integration.length };
}
