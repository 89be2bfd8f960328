/** Writes a tar.gz that is the same, byte for byte, for the same files. */
import { createWriteStream, readFileSync, statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';

import { tarBlocks, type TarEntry } from '../../cli/kubectl/report/tar.ts';

/** Lists the files below a folder, each with its path in it. */
export async function filesBelow(folder: string): Promise<readonly (readonly [path: string, file: string])[]> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  return found
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => [relative(folder, file), file]);
}

interface TarGzOptions {
  readonly to: string;
  /** Folder of everything in the archive. */
  readonly folder: string;
  /** Files by their path in that folder. */
  readonly files: ReadonlyMap<string, string>;
  /** Texts that are no files, likewise. */
  readonly made?: ReadonlyMap<string, string>;
  /** Time of every file, in seconds since 1970. */
  readonly epoch: number;
}

export async function writeTarGz(options: TarGzOptions): Promise<void> {
  await pipeline(Readable.from(tarBlocks(entriesOf(options), options.epoch)), createGzip(), createWriteStream(options.to));
}

function* entriesOf({ folder, files, made = new Map() }: TarGzOptions): Generator<TarEntry> {
  for (const path of [...files.keys(), ...made.keys()].toSorted()) {
    const file = files.get(path);
    if (file === undefined) yield { path: `${folder}/${path}`, content: Buffer.from(made.get(path) ?? ''), mode: 0o644 };
    else yield { path: `${folder}/${path}`, content: readFileSync(file), mode: (statSync(file).mode & 0o100) === 0 ? 0o644 : 0o755 };
  }
}
