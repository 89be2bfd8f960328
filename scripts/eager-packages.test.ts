import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { build } from 'esbuild';
import { expect, it } from 'vitest';

import { testFolder } from '../test/support/folders.ts';
import { eagerPackages } from './eager-packages.ts';

it('names the chain of imports to a package that should come later', async () => {
  const folder = testFolder();
  await Promise.all([
    writeFile(join(folder, 'role.ts'), "import './between.ts';\nawait import('./late.ts');\n"),
    writeFile(join(folder, 'between.ts'), "import type { Logger } from 'pino';\nimport 'yaml';\nexport type { Logger };\n"),
    writeFile(join(folder, 'late.ts'), "import 'zod';\n"),
  ]);
  const { metafile } = await build({
    entryPoints: [join(folder, 'role.ts')],
    outdir: folder,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    nodePaths: ['node_modules'],
    write: false,
    metafile: true,
  });
  const role = Object.keys(metafile.inputs).find((source) => source.endsWith('role.ts')) ?? '';
  const found = eagerPackages(metafile, { [role]: ['yaml', 'zod', 'pino'] });
  expect(found).toEqual([expect.stringMatching(/role\.ts → .*between\.ts → node_modules\/yaml\//)]);
});
