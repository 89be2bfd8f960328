import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { UserError } from '../platform/user-error.ts';

/**
 * Finds the folder with `local-stack/`, `crds/` and `examples/` upwards from here: the bundle in `dist/` lies at another depth than the
 * sources. It is a checkout, or an unpacked archive.
 */
export function repositoryRoot(from: string = dirname(fileURLToPath(import.meta.url))): string {
  for (let folder = from; ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'local-stack', 'modules', 'kubernetes', 'go.mod'))) return folder;
    if (dirname(folder) === folder)
      throw new UserError('`parley dev` needs the resource definitions and examples of an archive or a checkout, and there are none here', {
        cure: 'run it from the archive of your platform or from a checkout (docs/cli.md#install)',
      });
  }
}
