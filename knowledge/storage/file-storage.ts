/** Where uploaded files live: a directory or a bucket. Keys are ours (`<org>/<document id>`), never a client's file name. */
import type { Readable } from 'node:stream';

export interface StoredFile {
  readonly bytes: number;
  /** Lower-case hex. */
  readonly sha256: string;
}

export interface ReadOptions {
  readonly signal?: AbortSignal;
  readonly range?: { readonly start: number; readonly end: number };
}

/** @throws StorageError from every method: `unavailable` (try again), `not_found`, `too_large` or `refused` */
export interface FileStorage {
  /**
   * Streams while hashing; never holds the whole file. What fails in the middle leaves nothing behind.
   * @param maxBytes more than this is `too_large`
   */
  put(key: string, content: Readable, options: { readonly maxBytes: number; readonly signal?: AbortSignal }): Promise<StoredFile>;
  /** @param options.range bytes of it, both ends included; they have to exist */
  read(key: string, options?: ReadOptions): Promise<Readable>;
  /** Nothing there is fine. */
  delete(key: string): Promise<void>;
  /** Keys with this prefix, ascending, behind `after`. */
  list(prefix: string, page: { readonly after?: string; readonly limit: number }): Promise<readonly string[]>;
  health(): Promise<void>;
}
