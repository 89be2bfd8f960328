import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Finds the folder with `tools/`, `crds/` and `examples/` upwards from here: the bundle in `dist/` lies at another depth than the sources.
 */
export function repositoryRoot(from: string = dirname(fileURLToPath(import.meta.url))): string {
  for (let folder = from; ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'local-stack', 'modules', 'kubernetes', 'go.mod'))) return folder;
    if (dirname(folder) === folder)
      throw new Error(`no Parley checkout above ${from}: the local stack runs from a checkout, not from an image`);
  }
}
