import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { build } from 'esbuild';
import { expect, it } from 'vitest';

import { testFolder } from '../test/support/folders.ts';
import { namelessImports } from './nameless-imports.ts';

async function imports(entry: string, harmless = /^$/): Promise<readonly string[]> {
  const folder = testFolder();
  await Promise.all([
    writeFile(join(folder, 'entry.mjs'), entry),
    writeFile(join(folder, 'common.cjs'), 'exports.named = () => 1;\n'),
    writeFile(join(folder, 'module.mjs'), "import { named } from './common.cjs';\nexport const other = named;\n"),
  ]);
  const { metafile } = await build({
    entryPoints: ['entry.mjs'],
    absWorkingDir: folder,
    outdir: 'out',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    write: false,
    metafile: true,
  });
  return namelessImports(metafile, harmless);
}

it('finds what loses its names in the bundle', async () => {
  expect(await imports("const { named } = await import('./common.cjs');\nnamed();\n")).toEqual(['entry.mjs → common.cjs']);
  expect(await imports("console.log((await import('./common.cjs')).named());\n")).toEqual(['entry.mjs → common.cjs']);
});

it('leaves static imports, modules of one’s own, and what is known to be harmless', async () => {
  expect(await imports("import { named } from './common.cjs';\nnamed();\n")).toEqual([]);
  expect(await imports("const { other } = await import('./module.mjs');\nother();\n")).toEqual([]);
  expect(await imports("const { readFile } = await import('node:fs');\nreadFile();\n")).toEqual([]);
  expect(await imports("const { named } = await import('./common.cjs');\nnamed();\n", /^entry/)).toEqual([]);
});
