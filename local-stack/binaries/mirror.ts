import { createReadStream, createWriteStream } from 'node:fs';
import { chmod, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createZstdDecompress } from 'node:zlib';

import type { BinarySpec, Checksum } from './binary-spec.ts';
import { download, readText, unpackTar } from './download.ts';
import type { Fetching } from './progress.ts';

/** A file of a mirror with the checksum that the mirror's `SHA256SUMS` has for it. */
interface MirrorEntry {
  readonly source: string;
  readonly checksum: Checksum;
  /** Set if the file is a folder in a tar archive instead of one executable. */
  readonly archive: boolean;
}

/**
 * Looks a program up in a mirror: a folder or a web address with `<name>-<version>-<os>-<arch>.zst` (one executable),
 * or `….tar.zst` (a folder), and `SHA256SUMS`. Answers undefined when the mirror does not list it.
 *
 * @throws when the mirror itself can't be read.
 */
export async function findInMirror(mirror: string, spec: BinarySpec, platform: string): Promise<MirrorEntry | undefined> {
  const base = mirror.replace(/\/+$/, '');
  const sums = await readText(`${base}/SHA256SUMS`);
  const stem = `${spec.name}-${spec.version}-${platform}`;
  for (const line of sums.split('\n')) {
    const [, hex, file] = /^([0-9a-f]{64})\s+\*?(\S+)$/.exec(line.trim()) ?? [];
    if (hex === undefined || (file !== `${stem}.zst` && file !== `${stem}.tar.zst`)) continue;
    return { source: `${base}/${file}`, checksum: { algorithm: 'sha256', hex }, archive: file.endsWith('.tar.zst') };
  }
  return undefined;
}

interface MirrorSource extends Fetching {
  readonly entry: MirrorEntry;
  readonly spec: BinarySpec;
  readonly folder: string;
}

/** Fetches an entry of the mirror and unpacks it into `folder`. */
export async function obtainFromMirror({ entry, spec, folder, onProgress, signal }: MirrorSource): Promise<void> {
  const packed = join(folder, 'download.zst');
  await download({ source: entry.source, file: packed, checksum: entry.checksum, onProgress, signal });
  onProgress?.({ phase: 'unpacking' });
  const target = join(folder, entry.archive ? 'download.tar' : spec.executable);
  await pipeline(createReadStream(packed), createZstdDecompress(), createWriteStream(target));
  await rm(packed);
  if (entry.archive) {
    await unpackTar(target, folder);
    await rm(target);
  } else {
    await chmod(target, 0o755);
  }
}
