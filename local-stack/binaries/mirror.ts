import { createReadStream, createWriteStream } from 'node:fs';
import { chmod, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createZstdDecompress } from 'node:zlib';

import type { BinarySpec } from './catalogue.ts';
import { type Checksum, download, readText } from './download.ts';
import { platformKey, type Platform } from './platform.ts';
import type { BinaryProgress } from './progress.ts';
import { unpackTar } from './unpack.ts';

/** A file of a mirror together with the checksum that the mirror's `SHA256SUMS` has for it. */
export interface MirrorEntry {
  readonly source: string;
  readonly checksum: Checksum;
  /** A folder in a tar archive instead of one executable. */
  readonly archive: boolean;
}

/**
 * Looks a program up in a mirror: a folder or a web address with `<name>-<version>-<os>-<arch>.zst` (one executable),
 * or `….tar.zst` (a folder), and `SHA256SUMS`. Answers undefined when the mirror does not list it.
 *
 * @throws when the mirror itself can't be read.
 */
export async function findInMirror(mirror: string, spec: BinarySpec, platform: Platform): Promise<MirrorEntry | undefined> {
  const base = mirror.replace(/\/+$/, '');
  const sums = await readText(`${base}/SHA256SUMS`);
  const stem = `${spec.name}-${spec.version}-${platformKey(platform)}`;
  for (const line of sums.split('\n')) {
    const match = /^([0-9a-f]{64})\s+\*?(\S+)$/.exec(line.trim());
    const [, hex, file] = match ?? [];
    if (hex === undefined || (file !== `${stem}.zst` && file !== `${stem}.tar.zst`)) continue;
    return { source: `${base}/${file}`, checksum: { algorithm: 'sha256', hex }, archive: file.endsWith('.tar.zst') };
  }
  return undefined;
}

/** Fetches an entry of the mirror and unpacks it into `folder`. */
export async function obtainFromMirror(options: {
  readonly entry: MirrorEntry;
  readonly spec: BinarySpec;
  readonly folder: string;
  readonly onProgress?: (progress: BinaryProgress) => void;
  readonly signal?: AbortSignal;
}): Promise<void> {
  const { entry, spec, folder } = options;
  const packed = join(folder, 'download.zst');
  await download({ source: entry.source, file: packed, checksum: entry.checksum, ...optional(options) });
  options.onProgress?.({ phase: 'unpacking' });
  if (entry.archive) {
    const tar = join(folder, 'download.tar');
    await pipeline(createReadStream(packed), createZstdDecompress(), createWriteStream(tar));
    await unpackTar(tar, folder);
    await rm(tar);
  } else {
    const target = join(folder, spec.executable);
    await pipeline(createReadStream(packed), createZstdDecompress(), createWriteStream(target));
    await chmod(target, 0o755);
  }
  await rm(packed);
}

const optional = (options: { readonly onProgress?: (progress: BinaryProgress) => void; readonly signal?: AbortSignal }) => ({
  ...(options.onProgress === undefined ? {} : { onProgress: options.onProgress }),
  ...(options.signal === undefined ? {} : { signal: options.signal }),
});
