/** Describes a backup in `backup.json`, which is written last, so that a folder without it is no backup. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

import { z } from 'zod';

import { UserError } from '../../platform/user-error.ts';
import type { Progress } from '../progress-bar.ts';

const file = z.object({
  /** Path below the folder. */
  path: z.string(),
  bytes: z.number(),
  /** Lower-case hex. */
  sha256: z.string(),
});

/** A table's rows: lines of COPY's text format, compressed with gzip. */
const table = file.extend({ name: z.string(), columns: z.array(z.string()) });

const schema = z.object({
  format: z.literal(1),
  version: z.string(),
  createdAt: z.iso.datetime(),
  organizations: z.array(z.string()),
  database: z.object({
    /** Output of pg_dump, without rows. */
    schema: file,
    tables: z.array(table),
    /** Major version of the server. */
    postgres: z.number(),
    owner: z.string(),
    migrations: z.array(z.string()),
  }),
  resources: z.array(file),
  /** Absent where the files of the storage were left out. */
  files: z.object({ count: z.number(), bytes: z.number(), list: file }).optional(),
});

export type BackupManifest = z.output<typeof schema>;
export type BackedUpFile = z.output<typeof file>;
export type BackedUpTable = z.output<typeof table>;

export const SCHEMA_FILE = 'schema.dump';
export const FILES_LIST = 'files.jsonl';
const NAME = 'backup.json';

export async function writeManifest(folder: string, manifest: BackupManifest): Promise<void> {
  await writeFile(join(folder, `${NAME}.new`), `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 });
  await rename(join(folder, `${NAME}.new`), join(folder, NAME));
}

/** @throws UserError for a folder that holds no backup, or one that this version can't read */
export async function readManifest(folder: string): Promise<BackupManifest> {
  let text: string;
  try {
    text = await readFile(join(folder, NAME), 'utf8');
  } catch (error) {
    throw new UserError(`${folder} holds no complete backup: ${NAME} is missing`, {
      cure: 'name the folder that `parley backup` wrote',
      cause: error,
    });
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new UserError(`${join(folder, NAME)} is damaged: ${(error as Error).message}`, { cause: error });
  }
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  const format = (value as { readonly format?: unknown } | null)?.format;
  throw new UserError(
    typeof format === 'number' && format > 1
      ? `${folder} has a backup of format ${format}, and this parley knows format 1`
      : `${join(folder, NAME)} is no description of a backup: ${z.prettifyError(read.error)}`,
    { cure: 'use the version of Parley that made the backup, or a newer one' },
  );
}

/** Reads the file once, whole, unless `signal` aborts. */
export async function measure(folder: string, path: string, signal: AbortSignal): Promise<BackedUpFile> {
  const hash = createHash('sha256');
  let bytes = 0;
  const read = async (chunks: AsyncIterable<Buffer>): Promise<void> => {
    for await (const chunk of chunks) {
      bytes += chunk.length;
      hash.update(chunk);
    }
  };
  await pipeline(createReadStream(join(folder, path)), read, { signal });
  return { path, bytes, sha256: hash.digest('hex') };
}

/** @throws UserError naming the first file that is missing or has changed */
export async function verify(
  folder: string,
  files: readonly BackedUpFile[],
  { progress, signal }: { readonly progress: Progress; readonly signal: AbortSignal },
): Promise<void> {
  for (const [index, wanted] of files.entries()) {
    progress.show(index, files.length, 'files compared');
    const found = await measure(folder, wanted.path, signal).catch((error: unknown) => {
      signal.throwIfAborted();
      throw new UserError(`the backup is not whole: ${wanted.path} can't be read`, { cure: 'take another copy of it', cause: error });
    });
    if (found.sha256 !== wanted.sha256)
      throw new UserError(
        `the backup is damaged: ${wanted.path} has ${found.bytes} bytes and not the content that it was written with (${wanted.bytes} bytes)`,
        { cure: 'take another copy of it' },
      );
  }
}
