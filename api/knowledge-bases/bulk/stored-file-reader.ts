/** Reads a file in the storage at any place, for the library that reads archives. */
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { callbackify } from 'node:util';

import { RandomAccessReader } from 'yauzl';

import type { FileStorage } from '../../../knowledge/storage/file-storage.ts';
import { LruMap } from '../../../platform/lru.ts';

/** Bytes that are read at a time: small entries stand next to each other, and a bucket answers each request late. */
const PAGE_BYTES = 1024 * 1024;
/** Pages that are kept: those of the directory, and of the entries that are being read. */
const PAGES_KEPT = 4;

export interface StoredFileReaderOptions {
  readonly files: Pick<FileStorage, 'read'>;
  readonly key: string;
  readonly bytes: number;
  readonly signal: AbortSignal;
}

export class StoredFileReader extends RandomAccessReader {
  readonly #options: StoredFileReaderOptions;
  readonly #pages = new LruMap<number, Promise<Buffer>>(PAGES_KEPT);

  constructor(options: StoredFileReaderOptions) {
    super();
    this.#options = options;
  }

  /** @param end index behind the last byte */
  async bytes(start: number, end: number): Promise<Buffer> {
    return buffer(this.#paged(start, end));
  }

  /** Reads headers, without a stream for each. */
  override read(target: Buffer, offset: number, length: number, position: number, done: (error: Error | null) => void): void {
    callbackify(() => this.bytes(position, position + length))((error: Error | null, found: Buffer | undefined) => {
      found?.copy(target, offset);
      done(error);
    });
  }

  /** @param end index behind the last byte */
  override _readStreamForRange(start: number, end: number): Readable {
    return Readable.from(end - start > PAGE_BYTES ? this.#large(start, end) : this.#paged(start, end), { objectMode: false });
  }

  async *#large(start: number, end: number): AsyncGenerator<Uint8Array> {
    const { files, key, signal } = this.#options;
    yield* (await files.read(key, { signal, range: { start, end: end - 1 } })) as AsyncIterable<Uint8Array>;
  }

  async *#paged(start: number, end: number): AsyncGenerator<Uint8Array> {
    for (let at = start; at < end;) {
      const number = Math.floor(at / PAGE_BYTES);
      const page = await this.#page(number);
      const from = at - number * PAGE_BYTES;
      const piece = page.subarray(from, Math.min(page.length, from + end - at));
      if (piece.length === 0) throw new Error('the archive ends too early');
      yield piece;
      at += piece.length;
    }
  }

  #page(number: number): Promise<Buffer> {
    const known = this.#pages.get(number);
    if (known !== undefined) return known;
    const { files, key, bytes, signal } = this.#options;
    const range = { start: number * PAGE_BYTES, end: Math.min(bytes, (number + 1) * PAGE_BYTES) - 1 };
    const page = files.read(key, { signal, range }).then((stream) => buffer(stream));
    // A page that failed is read again when it is next needed.
    page.catch(() => this.#pages.delete(number));
    this.#pages.set(number, page);
    return page;
  }
}
