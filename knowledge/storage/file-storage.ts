/** Stores uploaded files: in a directory or a bucket. Keys are ours (`<org>/<document id>`), never a client's file name. */
import type { Readable } from 'node:stream';

type StorageErrorKind =
  /** The storage can't be reached or is out of order: try again. */
  | 'unavailable'
  | 'not_found'
  | 'too_large'
  /** The storage answered and refuses: wrong credentials, no such bucket, a read-only folder, a bad key. Trying again changes nothing. */
  | 'refused';

export class StorageError extends Error {
  override readonly name = 'StorageError';
  readonly kind: StorageErrorKind;

  /** @param message names the storage or the key, and the cure */
  constructor(kind: StorageErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }

  get retryable(): boolean {
    return this.kind === 'unavailable';
  }
}

export interface StoredFile {
  readonly bytes: number;
  /** SHA-256 of the content, lower-case hex. */
  readonly sha256: string;
}

export interface ReadOptions {
  readonly signal?: AbortSignal;
  readonly range?: { readonly start: number; readonly end: number };
}

/** @throws StorageError from every method: `unavailable` (try again), `not_found`, `too_large` or `refused` */
export interface FileStorage {
  /**
   * Streams while hashing; never holds the whole file. A failure in the middle leaves nothing behind.
   * @param maxBytes more than this is `too_large`
   */
  put(key: string, content: Readable, options: { readonly maxBytes: number; readonly signal?: AbortSignal }): Promise<StoredFile>;
  /** @param options.range bytes to read, both ends included; they have to exist */
  read(key: string, options?: ReadOptions): Promise<Readable>;
  /** Deletes a file; one that isn't there is fine. */
  delete(key: string): Promise<void>;
  /** Lists keys with this prefix, ascending, behind `after`. */
  list(prefix: string, page: { readonly after?: string | undefined; readonly limit: number }): Promise<readonly string[]>;
  health(): Promise<void>;
}

const SEGMENT = /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/;

/**
 * Checks a key. Parley makes keys of ids: letters, digits, `.`, `_`, `-`, and `/` between segments, none of which begins with a dot. So a
 * key can't leave its folder, meet a temporary file or need quoting anywhere, even if an id came from outside.
 *
 * @throws StorageError `refused`
 */
export function checkKey(key: string): void {
  if (key.length <= 512 && key.split('/').every((part) => SEGMENT.test(part))) return;
  throw new StorageError('refused', `${JSON.stringify(key.slice(0, 100))} is no storage key`);
}

/** Checks the beginning of a key, which may end in the middle of a segment or with a slash; `''` is all. @throws StorageError `refused` */
export function checkPrefix(prefix: string): void {
  if (prefix !== '') checkKey(prefix.endsWith('/') ? prefix.slice(0, -1) : prefix);
}

export interface OpenedFileStorage extends FileStorage {
  /** Ends the connections that are kept. */
  close(): void;
}
