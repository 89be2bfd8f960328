import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Packs an npm package. @returns the name of the archive in `out` */
export async function packFolder(folder: string, out: string): Promise<string> {
  const args = ['pack', '--json', '--pack-destination', out];
  const { stdout } = await promisify(execFile)('npm', args, { cwd: folder, maxBuffer: 16 * 1024 * 1024 });
  const [packed] = JSON.parse(stdout) as readonly { readonly filename: string }[];
  if (packed === undefined) throw new Error(`npm pack has packed nothing of ${folder}`);
  return packed.filename;
}
