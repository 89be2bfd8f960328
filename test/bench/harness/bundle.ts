/** Builds the bundle on which the roles that are measured run, as in production. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const repository = fileURLToPath(new URL('../../..', import.meta.url));

/** Path of the bundle. */
export const bundle = `${repository}dist/parley.mjs`;

/** Builds the bundle from the sources as they are. */
export async function ensureBundle(progress: (line: string) => void): Promise<void> {
  progress('building the bundle');
  await promisify(execFile)(process.execPath, ['scripts/build.ts'], { cwd: repository });
}
