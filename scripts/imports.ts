/** Compares the imports of the sources with the table in docs/architecture.md, which says what each folder may import. */
import { dirname, join } from 'node:path';

/** A folder of the table and the folders that it may import from, in addition to itself. */
export type Layers = ReadonlyMap<string, ReadonlySet<string>>;

export interface Import {
  /** Both paths start at the root of the repository. */
  readonly importer: string;
  readonly imported: string;
}

const SPECIFIER = /(?:\bfrom|\bimport)\s*\(?\s*'(\.[^']+\.ts)'|new URL\('([^']+\.ts)', import\.meta\.url\)/g;

/** Finds imports of other source files, and files that become a process, thread or bundle: packages and JSON belong to no layer. */
export function importsOf(file: string, source: string): readonly Import[] {
  return [...source.matchAll(SPECIFIER)].map(([, imported, started]) => ({
    importer: file,
    imported: join(dirname(file), imported ?? started ?? ''),
  }));
}

/** Reads the rows `` | `folder/` | `other/`, … | `` of a Markdown page. */
export function readLayers(page: string): Layers {
  const rows = [...page.matchAll(/^\| `([^`]+)\/` \| ([^|]*)\|/gm)];
  const layers = new Map(
    rows.map(([, folder = '', cell = '']) => [folder, new Set([...cell.matchAll(/`([^`]+)\/`/g)].map(([, name = '']) => name))]),
  );
  for (const [folder, allowed] of layers) {
    for (const name of allowed) if (!layers.has(name)) throw new Error(`the row of ${folder}/ names ${name}/, which has no row of its own`);
  }
  return layers;
}

/** Says in one sentence for each import that the table does not allow it. */
export function forbiddenImports(imports: readonly Import[], layers: Layers): readonly string[] {
  return imports.flatMap(({ importer, imported }) => {
    const [from, to] = [layerOf(importer, layers), layerOf(imported, layers)];
    if (from === undefined || from === to) return [];
    if (to !== undefined && layers.get(from)?.has(to)) return [];
    return [`${importer} imports ${imported}: ${from}/ may import only from ${[...(layers.get(from) ?? [])].join(', ') || 'packages'}`];
  });
}

/** Finds the row of the table that a file belongs to. */
function layerOf(file: string, layers: Layers): string | undefined {
  const [folder = ''] = file.split('/');
  return layers.has(folder) ? folder : undefined;
}

/**
 * Finds groups of sibling folders that import each other, at any depth, with an import for each direction. Files of the parent itself
 * belong to no sibling: an `index.ts` above may import all of them.
 */
export function folderCycles(imports: readonly Import[]): readonly string[] {
  const siblings = new Map<string, Map<string, Map<string, Import>>>();
  for (const one of imports) {
    const [from, to] = [dirname(one.importer).split('/'), dirname(one.imported).split('/')];
    const at = from.findIndex((part, index) => part !== to[index]);
    const [source, target] = [from[at], to[at]];
    if (source === undefined || target === undefined || source === '.' || target === '.') continue;
    const parent = from.slice(0, at).join('/');
    const folders = getOrAdd(siblings, parent, () => new Map<string, Map<string, Import>>());
    getOrAdd(
      getOrAdd(folders, source, () => new Map<string, Import>()),
      target,
      () => one,
    );
  }
  return [...siblings].flatMap(([parent, folders]) =>
    [...folders].flatMap(([folder, targets]) =>
      [...targets]
        .filter(([target]) => reaches(folders, target, folder))
        .map(([target, { importer, imported }]) => `${join(parent, folder)}/ ⇄ ${target}/: ${importer} imports ${imported}`),
    ),
  );
}

function reaches(graph: ReadonlyMap<string, ReadonlyMap<string, unknown>>, from: string, to: string): boolean {
  const seen = new Set([from]);
  for (const folder of seen) for (const next of graph.get(folder)?.keys() ?? []) seen.add(next);
  return seen.has(to);
}

function getOrAdd<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const found = map.get(key) ?? make();
  map.set(key, found);
  return found;
}
