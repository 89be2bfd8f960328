/** Finds what a role or process loads before it does anything. */
import type { Metafile } from 'esbuild';

/**
 * Finds packages that are in memory as soon as an entry has started, and should come with what first needs them.
 * @param later packages that cost so much, by the sources whose processes may not begin with them
 * @returns `source: chain of imports`, one for each that is loaded all the same
 */
export function eagerPackages({ inputs }: Metafile, later: Readonly<Record<string, readonly string[]>>): readonly string[] {
  return Object.entries(later).flatMap(([entry, packages]) => {
    const importers = new Map<string, string | undefined>([[entry, undefined]]);
    for (const source of importers.keys())
      for (const { path, kind } of inputs[source]?.imports ?? [])
        if (kind !== 'dynamic-import' && !importers.has(path)) importers.set(path, source);
    const chainTo = (source: string): readonly string[] => {
      const importer = importers.get(source);
      return importer === undefined ? [source] : [...chainTo(importer), source];
    };
    return packages.flatMap((name) => {
      const found = [...importers.keys()].find((source) => source.startsWith(`node_modules/${name}/`));
      return found === undefined ? [] : [chainTo(found).join(' → ')];
    });
  });
}
