/** What a change can break: the tests that import what has changed, by way of other files too. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

import { importsOf, type Import } from './imports.ts';

/** At most so many integration files: about a minute's worth on two cores. */
const INTEGRATION_FILES = 6;

const lines = (...args: readonly string[]): readonly string[] =>
  execFileSync('git', args, { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line !== '');

/** The TypeScript files of the working tree, new ones too. */
export const sourceFiles = (): readonly string[] =>
  lines('ls-files', '--cached', '--others', '--exclude-standard', '*.ts').filter((file) => existsSync(file));

/** Committed, staged, unstaged and new files that differ from where this branch left `ref` (main, or what is checked out without one). */
export function changedFiles(ref?: string): readonly string[] {
  const [main] = lines('for-each-ref', '--format=%(refname)', 'refs/heads/main', 'refs/remotes/origin/main');
  const [base = 'HEAD'] = lines('merge-base', ref ?? main ?? 'HEAD', 'HEAD');
  return [...new Set([...lines('diff', '--name-only', base), ...lines('ls-files', '--others', '--exclude-standard')])];
}

/** Every file that imports one of `changed`, with the number of imports between them. */
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

/**
 * Unit tests: all that import a changed file. Integration tests: those of the changed folder, then the nearest. A file that is no
 * TypeScript (a chart, a page, a migration) is imported by whatever names its folder.
 * @returns the test files to run, and how many integration files were left out
 */
export function relatedTests(changed: readonly string[]): { readonly chosen: readonly string[]; readonly left: number } {
  const files = sourceFiles();
  const sources = files.map((file) => ({ file, text: readFileSync(file, 'utf8') }));
  const named = changed.filter((file) => !file.endsWith('.ts')).map((file) => file.slice(0, file.lastIndexOf('/') + 1) || file);
  const naming = sources.filter(({ file, text }) => file.endsWith('.test.ts') && named.some((path) => text.includes(path)));
  const imports = sources.flatMap(({ file, text }) => importsOf(file, text));
  const found = [...importersOf([...changed, ...naming.map(({ file }) => file)], imports)].filter(
    ([file]) => file.endsWith('.test.ts') && files.includes(file),
  );
  const integration = found.filter(([file]) => /^test\/integration\/(?!voice\/|cli-call\/).*(?<!\.slow)\.test\.ts$/.test(file));
  const unit = found.filter(([file]) => !/^test\/(integration|e2e)\//.test(file));
  const suites = new Set(changed.map((file) => `test/integration/${file.split('/')[0]}/`));
  const isOwn = (file: string): number => Number(suites.has(file.slice(0, file.indexOf('/', 'test/integration/'.length) + 1)));
  const nearest = integration.toSorted(([a, near], [b, far]) => isOwn(b) - isOwn(a) || near - far).slice(0, INTEGRATION_FILES);
  return { chosen: [...unit, ...nearest].map(([file]) => file), left: integration.length - nearest.length };
}
