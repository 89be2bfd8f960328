/**
 * How much of what could be wrong the unit tests notice: `node scripts/mutants.ts [--ref <commit>] [--count 200] [--seed 1] [folder…]`.
 * Changes one token at a time in a copy of the repository, runs the unit tests that import the file, and counts the changes that fail
 * one. The same seed picks the same share of each folder's sites, so that two versions can be compared.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { mulberry } from '../platform/mulberry.ts';
import { checkOut } from '../test/upgrade/checkout.ts';
import { importersOf } from './changed.ts';
import { importsOf } from './imports.ts';

/** Each changes the first group of what it matches. */
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

/** Places in code, not in comments, imports or types. */
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

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { ref: { type: 'string', default: 'HEAD' }, count: { type: 'string', default: '200' }, seed: { type: 'string', default: '1' } },
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
  const sites = folders.flatMap((folder) => {
    const sources = files.filter((file) => file.startsWith(`${folder}/`) && !/\.test\.ts$|\/testing\//.test(file)).toSorted();
    return pick(
      sources.flatMap((file) => sitesOf(file, read(file))),
      Math.ceil(Number(values.count) / folders.length),
      next,
    );
  });
  const noticed = new Map(folders.map((folder) => [folder, 0]));
  for (const [index, { file, at, token, mutant }] of sites.entries()) {
    const source = read(file);
    writeFileSync(join(copy, file), source.slice(0, at) + mutant + source.slice(at + token.length));
    const tests = [...importersOf([file], imports).keys()].filter((one) => one.endsWith('.test.ts') && !one.startsWith('test/'));
    const { status } =
      tests.length === 0
        ? { status: 0 }
        : spawnSync('vitest', ['run', '--project', 'unit', '--bail', '1', '--testTimeout', '10000', ...tests], {
            cwd: copy,
            timeout: 180_000,
          });
    writeFileSync(join(copy, file), source);
    const folder = folders.find((one) => file.startsWith(`${one}/`)) ?? '';
    if (status !== 0) noticed.set(folder, (noticed.get(folder) ?? 0) + 1);
    const line = source.slice(0, at).split('\n').length;
    process.stdout.write(`${index + 1}/${sites.length} ${status === 0 ? 'missed ' : 'noticed'} ${file}:${line} ${token} → ${mutant}\n`);
  }
  for (const [folder, count] of noticed) {
    const all = sites.filter(({ file }) => file.startsWith(`${folder}/`)).length;
    process.stdout.write(`${folder}: ${count} of ${all} noticed, ${((100 * count) / all).toFixed(0)} %\n`);
  }
} finally {
  await checkout.remove();
}
