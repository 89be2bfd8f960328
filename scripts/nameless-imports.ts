/** Finds imports that work from the sources and not from the bundle. */
import type { Metafile } from 'esbuild';

/**
 * esbuild makes a chunk of what is imported dynamically, and the chunk of a CommonJS module has a default export and nothing else:
 * `const { parse } = await import('yaml')` is a function in Node.js, which guesses the names, and `undefined` in the bundle. A module
 * of one's own with a static import between them keeps the names, and the chunk.
 * @param harmless importers whose imports nothing of Parley reaches
 * @returns `importer → imported module`, without repetitions
 */
export function namelessImports(metafile: Metafile, harmless: RegExp): readonly string[] {
  const { inputs } = metafile;
  const found = Object.entries(inputs).flatMap(([importer, { imports }]) =>
    imports
      .filter(({ kind, path }) => kind === 'dynamic-import' && inputs[path]?.format === 'cjs' && !harmless.test(importer))
      .map(({ path }) => `${importer} → ${path}`),
  );
  return [...new Set(found)];
}
