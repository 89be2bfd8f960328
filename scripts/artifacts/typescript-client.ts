/** Builds the npm package of the TypeScript client. */
import { execFile } from 'node:child_process';
import { cp, mkdir, readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

import { packFolder } from './pack-folder.ts';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '../..');
const source = join(root, 'clients/typescript');

/** @param folder the package's, which is written anew, inside the repository: the compiler and the client find its packages there */
export async function buildTypescriptClient(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  for (const file of ['package.json', 'README.md']) await cp(join(source, file), join(folder, file));
  await cp(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  await run(process.execPath, [join(root, 'scripts/client-types.ts')]);
  await run(join(root, 'node_modules/.bin/tsc'), ['-p', source, '--outDir', join(folder, 'dist')]);
}

/** @param version version that the package has to have. @returns the name of the archive in `out` */
export async function packTypescriptClient(version: string, out: string): Promise<string> {
  const facts = JSON.parse(await readFile(join(source, 'package.json'), 'utf8')) as { readonly version: string };
  if (facts.version !== version)
    throw new Error(
      `clients/typescript/package.json is of version ${facts.version}, package.json of ${version}: give both the same version`,
    );
  const folder = join(root, 'build/clients/typescript');
  await buildTypescriptClient(folder);
  return packFolder(folder, out);
}
