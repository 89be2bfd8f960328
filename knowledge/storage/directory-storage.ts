/** Stores files in a directory, which every process that uses it has to share. */
import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { access, constants, type FileHandle, mkdir, open, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { systemClock } from '../../platform/clock.ts';
import { retry } from '../../platform/retry.ts';
import { checkKey, checkPrefix, type FileStorage, type ReadOptions, StorageError, type StoredFile } from './file-storage.ts';
import { Meter } from './meter.ts';

/** Folder of temporary files. No key begins with a dot. */
const INCOMING = '.incoming';

/** A temporary file of this age, in milliseconds, belongs to a process that is gone. */
const ABANDONED_MS = 24 * 3_600_000;

export class DirectoryStorage implements FileStorage {
  readonly #root: string;
  #swept: Promise<void> | undefined;

  /** @param root absolute path; it is created with the first file */
  constructor(root: string) {
    this.#root = root;
  }

  async put(key: string, content: Readable, options: { readonly maxBytes: number; readonly signal?: AbortSignal }): Promise<StoredFile> {
    const meter = new Meter(content, options);
    let temporary: string | undefined;
    try {
      checkKey(key);
      this.#swept ??= this.#sweep();
      await this.#swept;
      temporary = join(this.#root, INCOMING, randomUUID());
      // The file is flushed before it gets its name, so that no name ever has half a file, even after a power cut.
      const file = createWriteStream(temporary, { flags: 'wx', mode: 0o600, flush: true });
      const closed = new Promise<void>((resolve) => file.once('close', () => resolve()));
      await pipeline(meter.chunks(), file).catch(async (error: unknown) => {
        // The file may be about to be opened: removed before that, it would be there afterwards.
        await closed;
        throw error;
      });
      await this.#place(temporary, join(this.#root, key));
      return meter.result();
    } catch (error) {
      content.destroy();
      if (temporary !== undefined) await rm(temporary, { force: true }).catch(() => undefined);
      // If the folder was removed, it is created again for the next file.
      if (isOneOf(error, ['ENOENT', 'ENOTDIR'])) this.#swept = undefined;
      options.signal?.throwIfAborted();
      throw meter.failure === undefined ? this.#failure(error, key) : meter.failure.reason;
    }
  }

  async read(key: string, { signal, range }: ReadOptions = {}): Promise<Readable> {
    checkKey(key);
    try {
      // Parley stores plain files only; a link leads elsewhere.
      const handle = await open(join(this.#root, key), constants.O_RDONLY | constants.O_NOFOLLOW);
      if (!(await handle.stat()).isFile()) {
        await handle.close();
        throw notFound(key);
      }
      return handle.createReadStream({ ...(signal !== undefined && { signal }), ...range });
    } catch (error) {
      throw this.#failure(error, key);
    }
  }

  async delete(key: string): Promise<void> {
    checkKey(key);
    try {
      await rm(join(this.#root, key), { force: true });
    } catch (error) {
      if (!isOneOf(error, ['ENOTDIR', 'ERR_FS_EISDIR'])) throw this.#failure(error, key);
      return;
    }
    // Folders exist only for their files; one that another file has just come into stays.
    for (let folder = dirname(key); folder !== '.'; folder = dirname(folder)) {
      try {
        await rmdir(join(this.#root, folder));
      } catch {
        return;
      }
    }
  }

  async list(prefix: string, page: { readonly after?: string | undefined; readonly limit: number }): Promise<readonly string[]> {
    checkPrefix(prefix);
    const keys: string[] = [];
    for await (const key of this.#walk('', prefix, page.after ?? '')) {
      if (keys.length >= page.limit) break;
      keys.push(key);
    }
    return keys;
  }

  async health(): Promise<void> {
    try {
      await mkdir(this.#root, { recursive: true, mode: 0o700 });
      await access(this.#root, constants.R_OK | constants.W_OK | constants.X_OK);
    } catch (error) {
      throw this.#failure(error, this.#root);
    }
  }

  async #place(temporary: string, target: string): Promise<void> {
    const move = async (): Promise<void> => {
      await mkdir(dirname(target), { recursive: true, mode: 0o700 });
      await rename(temporary, target);
    };
    // A deletion may have taken the folder away again in between.
    const delayMs = (error: unknown, failures: number): number | undefined => (isOneOf(error, ['ENOENT']) && failures < 10 ? 0 : undefined);
    await retry(move, { delayMs, clock: systemClock });
    let folder: FileHandle | undefined;
    try {
      folder = await open(dirname(target), constants.O_RDONLY);
      await folder.sync();
    } catch (error) {
      // The folder is deleted by now, or the file system can't flush folders.
      if (!isOneOf(error, ['ENOENT', 'EINVAL', 'EPERM', 'EISDIR'])) throw error;
    } finally {
      await folder?.close();
    }
  }

  /** Prepares the folder of temporary files, and removes those that killed processes left. */
  async #sweep(): Promise<void> {
    const folder = join(this.#root, INCOMING);
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      for (const name of await readdir(folder)) {
        const path = join(folder, name);
        const age = Date.now() - (await stat(path).catch(() => ({ mtimeMs: Date.now() }))).mtimeMs;
        if (age > ABANDONED_MS) await rm(path, { force: true });
      }
    } catch (error) {
      this.#swept = undefined;
      throw error;
    }
  }

  /** Yields keys in the order of their bytes, without entering folders that can hold none of the wanted ones. */
  async *#walk(folder: string, prefix: string, after: string): AsyncGenerator<string> {
    const entries = await readdir(join(this.#root, folder), { withFileTypes: true }).catch((error: unknown) => {
      if (isOneOf(error, ['ENOENT', 'ENOTDIR'])) return [];
      throw this.#failure(error, folder);
    });
    // A folder, with its slash, sorts where its keys do: `a-b` comes before `a/b`.
    const names = entries
      .filter(({ name }) => !name.startsWith('.'))
      .map((entry) => ({
        path: `${folder}${entry.name}${entry.isDirectory() ? '/' : ''}`,
        directory: entry.isDirectory(),
        file: entry.isFile(),
      }))
      .sort((a, b) => (a.path < b.path ? -1 : 1));
    for (const { path, directory, file } of names) {
      if (file && path.startsWith(prefix) && path > after) yield path;
      const mayMatch = path.startsWith(prefix) || prefix.startsWith(path);
      if (directory && mayMatch && (path > after || after.startsWith(path))) yield* this.#walk(path, prefix, after);
    }
  }

  #failure(error: unknown, key: string): unknown {
    if (error instanceof StorageError) return error;
    const code = (error as NodeJS.ErrnoException).code;
    if (code === undefined || (error as NodeJS.ErrnoException).syscall === undefined) return error;
    const { message } = error as Error;
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP') return notFound(key, error);
    if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
      const cure = 'let the account that Parley runs as read and write there, or set STORAGE_URL to another folder';
      return new StorageError('refused', `the file storage in ${this.#root} is closed to Parley (${code}): ${cure}`, { cause: error });
    }
    if (code === 'ENOSPC' || code === 'EDQUOT') {
      return new StorageError('unavailable', `the file storage in ${this.#root} is full (${code}): make room there`, { cause: error });
    }
    return new StorageError('unavailable', `the file storage in ${this.#root} failed: ${message}`, { cause: error });
  }
}

const notFound = (key: string, cause?: unknown): StorageError =>
  new StorageError('not_found', `there is no file ${key} in the storage`, { cause });

const isOneOf = (error: unknown, codes: readonly string[]): boolean => codes.includes((error as NodeJS.ErrnoException).code ?? '');
