/** Files of the storage, one by one: their keys are paths. */
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';

import { type OpenedFileStorage, openFileStorage } from '../../knowledge/storage/open-file-storage.ts';
import { UserError } from '../../platform/user-error.ts';
import { type BackedUpFile, type BackupManifest, filesList, measure } from './manifest.ts';
import { StorageError } from '../../knowledge/storage/file-storage.ts';

/** Files at a time. */
const AT_ONCE = 4;
const page = 1_000;

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

/** What is removed meanwhile is left out. */
export async function saveFiles(
  storage: OpenedFileStorage,
  folder: string,
  onProgress: (count: number) => void,
): Promise<NonNullable<BackupManifest['files']>> {
  const saved: BackedUpFile[] = [];
  await inParallel(keysOf(storage), async (key) => {
    const path = join('files', key);
    try {
      const content = await storage.read(key);
      await mkdir(dirname(join(folder, path)), { recursive: true, mode: 0o700 });
      await pipeline(content, createWriteStream(join(folder, path), { mode: 0o600 }));
    } catch (error) {
      if (error instanceof StorageError && error.kind === 'not_found') return;
      throw error;
    }
    saved.push(await measure(folder, path));
    if (saved.length % 1_000 === 0) onProgress(saved.length);
  });
  saved.sort((a, b) => (a.path < b.path ? -1 : 1));
  await writeFile(join(folder, filesList), saved.map((file) => `${JSON.stringify(file)}\n`).join(''), { mode: 0o600 });
  return { count: saved.length, bytes: saved.reduce((sum, { bytes }) => sum + bytes, 0), list: await measure(folder, filesList) };
}

export async function listedFiles(folder: string): Promise<readonly BackedUpFile[]> {
  const lines = (await readFile(join(folder, filesList), 'utf8')).split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as BackedUpFile);
}

export async function putFiles(storage: OpenedFileStorage, folder: string, files: readonly BackedUpFile[]): Promise<void> {
  await inParallel(files, async ({ path, bytes, sha256 }) => {
    const key = path.slice('files/'.length);
    const stored = await storage.put(key, createReadStream(join(folder, path)), { maxBytes: Math.max(1, bytes) });
    if (stored.sha256 !== sha256)
      throw new UserError(`${path} changed while it was brought back`, { cure: 'begin again with another copy of the backup' });
  });
}

async function* keysOf(storage: OpenedFileStorage): AsyncGenerator<string> {
  for (let after = ''; ;) {
    const keys = await storage.list('', { limit: page, ...(after !== '' && { after }) });
    yield* keys;
    if (keys.length < page) return;
    after = keys.at(-1) ?? '';
  }
}

async function inParallel<T>(items: Iterable<T> | AsyncIterable<T>, work: (item: T) => Promise<void>): Promise<void> {
  const iterator = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
  let failed = false;
  const lane = async (): Promise<void> => {
    while (!failed) {
      const { done, value } = await iterator.next();
      if (done === true) return;
      try {
        await work(value);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}
