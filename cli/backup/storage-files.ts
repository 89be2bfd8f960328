/** Copies files of the storage, one by one: their keys are paths. */
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';

import type { OpenedFileStorage } from '../../knowledge/storage/file-storage.ts';
import { openFileStorage } from '../../knowledge/storage/open-file-storage.ts';
import { UserError } from '../../platform/user-error.ts';
import type { Progress } from '../progress-bar.ts';
import { type BackedUpFile, type BackupManifest, FILES_LIST, measure } from './manifest.ts';
import { StorageError } from '../../knowledge/storage/file-storage.ts';

/** Number of files that are copied at a time. */
const AT_ONCE = 4;
const PAGE = 1_000;

/** Opens the storage for `use`. Its failures come as a {@link UserError}. */
export async function withStorage<T>(url: string, use: (storage: OpenedFileStorage) => Promise<T>): Promise<T> {
  const storage = openFileStorage({ url });
  try {
    return await use(storage);
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    throw new UserError(error.message, { cure: 'STORAGE_URL and its credentials have to be those of the roles', cause: error });
  } finally {
    storage.close();
  }
}

export async function holdsFiles(storage: OpenedFileStorage): Promise<boolean> {
  return (await storage.list('', { limit: 1 })).length > 0;
}

interface Watched {
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

/** Skips files that are removed meanwhile. @param options.prefixes prefixes of the keys */
export async function saveFiles(
  storage: OpenedFileStorage,
  folder: string,
  { prefixes, progress, signal }: Watched & { readonly prefixes: readonly string[] },
): Promise<NonNullable<BackupManifest['files']>> {
  const saved: BackedUpFile[] = [];
  progress.note('files …');
  const keys = await keysOf(storage, prefixes, signal);
  await inParallel(keys, signal, async (key) => {
    const path = join('files', key);
    try {
      const content = await storage.read(key);
      await mkdir(dirname(join(folder, path)), { recursive: true, mode: 0o700 });
      await pipeline(content, createWriteStream(join(folder, path), { mode: 0o600 }), { signal });
    } catch (error) {
      if (error instanceof StorageError && error.kind === 'not_found') return;
      throw error;
    }
    saved.push(await measure(folder, path, signal));
    progress.show(saved.length, keys.length, 'files');
  });
  saved.sort((a, b) => (a.path < b.path ? -1 : 1));
  await writeFile(join(folder, FILES_LIST), saved.map((file) => `${JSON.stringify(file)}\n`).join(''), { mode: 0o600 });
  return { count: saved.length, bytes: saved.reduce((sum, { bytes }) => sum + bytes, 0), list: await measure(folder, FILES_LIST, signal) };
}

export async function listedFiles(folder: string): Promise<readonly BackedUpFile[]> {
  const lines = (await readFile(join(folder, FILES_LIST), 'utf8')).split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as BackedUpFile);
}

export async function putFiles(
  storage: OpenedFileStorage,
  folder: string,
  { files, progress, signal }: Watched & { readonly files: readonly BackedUpFile[] },
): Promise<void> {
  let stored = 0;
  await inParallel(files, signal, async ({ path, bytes, sha256 }) => {
    const key = path.slice('files/'.length);
    const put = await storage.put(key, createReadStream(join(folder, path)), { maxBytes: Math.max(1, bytes) });
    if (put.sha256 !== sha256)
      throw new UserError(`${path} changed while it was brought back`, { cure: 'begin again with another copy of the backup' });
    stored += 1;
    progress.show(stored, files.length, 'files');
  });
}

/** Returns the prefixes of the keys of an organisation's files. */
export const prefixesOf = (org: string): readonly string[] => [`${org}/`, `recordings/${org}/`];

export async function keysOf(
  storage: Pick<OpenedFileStorage, 'list'>,
  prefixes: readonly string[],
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const keys: string[] = [];
  for (const prefix of prefixes) {
    for (let after: string | undefined; ;) {
      signal?.throwIfAborted();
      const found = await storage.list(prefix, { limit: PAGE, ...(after !== undefined && { after }) });
      keys.push(...found);
      after = found.at(-1);
      if (found.length < PAGE) break;
    }
  }
  return keys;
}

/** Begins nothing after a failure or an abort, and settles when all that has begun has ended. */
async function inParallel<T>(items: readonly T[], signal: AbortSignal, work: (item: T) => Promise<void>): Promise<void> {
  const iterator = items.values();
  let failed = false;
  const lane = async (): Promise<void> => {
    for (const item of iterator) {
      if (failed) return;
      try {
        signal.throwIfAborted();
        await work(item);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  const lanes = await Promise.allSettled(Array.from({ length: AT_ONCE }, lane));
  const first = lanes.find(({ status }) => status === 'rejected');
  if (first?.status === 'rejected') throw first.reason;
}
