/**
 * Compares what users and their programs rely on with another version: `node scripts/surface.ts <ref>`.
 * OpenAPI, CRDs, chart values, metrics, events, configuration, conditions, migrations, and the commands with their flags; texts left
 * out. Prints the lines that only one of the two has; the exit code is 1 when there are any.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { parse } from 'yaml';

import { checkOut } from '../test/upgrade/checkout.ts';

/** These keys of documents, and columns of generated tables, are texts for people. */
const TEXT_KEYS = new Set(['description', 'summary', 'title', 'example', 'examples', 'message']);
const STATED_COLUMNS = new Set([
  'Metric',
  'Type',
  'Labels',
  'Variable',
  'Allowed',
  'Default',
  'Reason',
  'Status',
  'Sets',
  'Field',
  'Field of the payload',
]);

const read = (root: string, path: string): string => readFileSync(join(root, path), 'utf8');

/** Writes one line for each value of a document, with its path; of a list of plain values (`required`, `enum`) without its place in it. */
function flat(value: unknown, path: string): readonly string[] {
  if (typeof value !== 'object' || value === null) return [`${path} = ${JSON.stringify(value)}`];
  if (Array.isArray(value) && value.every((one) => typeof one !== 'object'))
    return value.map((one) => `${path}/- = ${JSON.stringify(one)}`);
  const entries = Object.entries(value).filter(([key, inner]) => !(TEXT_KEYS.has(key) && typeof inner !== 'object'));
  return entries.length === 0 ? [`${path} = ${JSON.stringify(value)}`] : entries.flatMap(([key, inner]) => flat(inner, `${path}/${key}`));
}

/** Returns the rows of a page's tables under their headings, without the columns of prose. */
function tables(page: string, name: string): readonly string[] {
  let heading = '';
  let columns: readonly number[] = [];
  return page.split('\n').flatMap((line, index, lines) => {
    if (line.startsWith('#')) heading = line.replace(/^#+ /, '');
    if (!line.startsWith('|') || /^\|[-| ]+$/.test(line)) return [];
    const cells = line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim());
    if (/^\|[-| ]+$/.test(lines[index + 1] ?? '')) {
      columns = cells.flatMap((cell, at) => (STATED_COLUMNS.has(cell) ? [at] : []));
      return [];
    }
    return columns.length === 0 ? [] : [`${name}: ${heading}: ${columns.map((at) => cells[at]).join(' | ')}`];
  });
}

/** Returns the usage and the flags of a command, and of those below it. */
function commands(root: string, path: readonly string[] = []): readonly string[] {
  const env = { ...process.env, COLUMNS: '1000' };
  const help = execFileSync(process.execPath, [join(root, 'cli/main.ts'), ...path, '--help'], { encoding: 'utf8', env });
  const names = (section: string): readonly string[] =>
    [...(new RegExp(`^${section}:\\n((?: .*\\n?)*)`, 'm').exec(help)?.[1] ?? '').matchAll(/^ {2}(\S.*?)(?: {2,}|$)/gm)].map(
      ([, name = '']) => name,
    );
  const below = names('Commands').map((command) => command.split(/[ |]/)[0] ?? '');
  const lines = [
    ...names('Options').map((flag) => `parley ${path.join(' ')} ${flag}`),
    ...names('Arguments').map((argument) => `parley ${path.join(' ')} <${argument}>`),
  ];
  for (const name of below) {
    if (name !== 'help') lines.push(`parley ${[...path, name].join(' ')}`, ...commands(root, [...path, name]));
  }
  return lines;
}

function surfaceOf(root: string): ReadonlySet<string> {
  const page = (name: string, ...folders: readonly string[]): readonly string[] => {
    const found = folders.map((folder) => `docs/${folder}/${name}.md`).find((path) => existsSync(join(root, path)));
    return found === undefined ? [] : tables(read(root, found), name);
  };
  const files = (folder: string, ending: string) => readdirSync(join(root, folder)).filter((name) => name.endsWith(ending));
  const crds = ['crds/generated', 'crds'].find((folder) => existsSync(join(root, folder))) ?? '';
  return new Set([
    ...flat(JSON.parse(read(root, 'docs/reference/openapi.json')), 'openapi'),
    ...files(crds, '.yaml').flatMap((name) => flat(parse(read(root, `${crds}/${name}`)), name)),
    ...flat(parse(read(root, 'charts/parley/values.yaml')), 'values'),
    ...flat(JSON.parse(read(root, 'charts/parley/values.schema.json')), 'values schema'),
    ...page('metrics', 'reference'),
    ...page('events', 'reference', 'webhooks'),
    ...page('configuration', 'reference'),
    ...page('conditions', 'reference'),
    ...files('store/migrations', '.sql').map(
      (name) =>
        `${name} ${createHash('sha256')
          .update(read(root, `store/migrations/${name}`))
          .digest('hex')}`,
    ),
    ...commands(root),
  ]);
}

const [ref] = process.argv.slice(2);
if (ref === undefined) {
  process.stderr.write('usage: node scripts/surface.ts <commit, branch or tag to compare with>\n');
  process.exit(2);
}
const before = await checkOut(ref, (line) => process.stderr.write(`${line}\n`));
try {
  const [then, now] = [surfaceOf(before.folder), surfaceOf(process.cwd())];
  const gone = [...then].filter((line) => !now.has(line)).map((line) => `- ${line}`);
  const added = [...now].filter((line) => !then.has(line)).map((line) => `+ ${line}`);
  process.stdout.write(
    [...gone, ...added, `${then.size} lines in ${ref}, ${now.size} here, ${gone.length + added.length} differ`, ''].join('\n'),
  );
  process.exitCode = gone.length + added.length === 0 ? 0 : 1;
} finally {
  await before.remove();
}
