import { open } from 'node:fs/promises';

/**
 * Writes a file that only its owner may read, even over an existing file that others may read; a device or a pipe
 * stays as it is.
 * @param flag `wx` refuses a file that exists
 */
export async function writePrivately(file: string, content: Uint8Array | string, flag: 'w' | 'wx' = 'w'): Promise<void> {
  const handle = await open(file, flag, 0o600);
  try {
    if ((await handle.stat()).isFile()) await handle.chmod(0o600);
    await handle.writeFile(content);
  } finally {
    await handle.close();
  }
}
