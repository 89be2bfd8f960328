/** Files in a bucket of S3, or of a server that speaks its protocol. */
import { Readable } from 'node:stream';

import { DeleteObjectCommand, GetObjectCommand, ListObjectsV2Command, type S3Client } from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';

import type { FileStorage, ReadOptions, StoredFile } from './file-storage.ts';
import { checkKey, checkPrefix } from './keys.ts';
import { Meter } from './meter.ts';
import { s3Failure } from './s3-failure.ts';

/** What is in memory of one file: at most three parts. */
const partBytes = 8 * 1024 * 1024;
const partsAtOnce = 2;

/** The most that one listing answers, by the protocol. */
const listingPage = 1000;

export class S3Storage implements FileStorage {
  readonly #client: S3Client;
  readonly #bucket: string;
  readonly #prefix: string;

  /** @param options.prefix stands before every key; empty, or ends with a slash */
  constructor(options: { readonly client: S3Client; readonly bucket: string; readonly prefix: string }) {
    this.#client = options.client;
    this.#bucket = options.bucket;
    this.#prefix = options.prefix;
  }

  async put(key: string, content: Readable, options: { readonly maxBytes: number; readonly signal?: AbortSignal }): Promise<StoredFile> {
    const meter = new Meter(content, options);
    try {
      checkKey(key);
      const upload = new Upload({
        client: this.#client,
        params: { Bucket: this.#bucket, Key: this.#prefix + key, Body: Readable.from(meter.chunks(), { objectMode: false }) },
        partSize: partBytes,
        queueSize: partsAtOnce,
      });
      // Ended through its content, never by `abort()`: that returns before the parts are removed.
      await upload.done();
      return meter.result();
    } catch (error) {
      content.destroy();
      options.signal?.throwIfAborted();
      throw meter.failure === undefined ? this.#failure(error, key) : meter.failure.reason;
    }
  }

  async read(key: string, { range, ...options }: ReadOptions = {}): Promise<Readable> {
    checkKey(key);
    try {
      const command = new GetObjectCommand({
        Bucket: this.#bucket,
        Key: this.#prefix + key,
        ...(range !== undefined && { Range: `bytes=${range.start}-${range.end}` }),
      });
      const { Body: body } = await this.#client.send(command, this.#sendOptions(options));
      return Readable.from(this.#chunks(body as Readable, key), {
        objectMode: false,
        ...(options.signal === undefined ? {} : { signal: options.signal }),
      });
    } catch (error) {
      options.signal?.throwIfAborted();
      throw this.#failure(error, key);
    }
  }

  async delete(key: string): Promise<void> {
    checkKey(key);
    try {
      await this.#client.send(new DeleteObjectCommand({ Bucket: this.#bucket, Key: this.#prefix + key }));
    } catch (error) {
      throw this.#failure(error, key);
    }
  }

  async list(prefix: string, page: { readonly after?: string; readonly limit: number }): Promise<readonly string[]> {
    checkPrefix(prefix);
    const keys: string[] = [];
    let after = page.after ?? '';
    while (keys.length < page.limit) {
      const wanted = Math.min(page.limit - keys.length, listingPage);
      const found = await this.#listPage(prefix, after, wanted);
      keys.push(...found.keys);
      const last = found.keys.at(-1);
      if (!found.more || last === undefined) break;
      after = last;
    }
    return keys;
  }

  async health(): Promise<void> {
    await this.#listPage('', '', 1);
  }

  async #listPage(prefix: string, after: string, limit: number): Promise<{ readonly keys: readonly string[]; readonly more: boolean }> {
    try {
      const answer = await this.#client.send(
        new ListObjectsV2Command({
          Bucket: this.#bucket,
          Prefix: this.#prefix + prefix,
          MaxKeys: limit,
          ...(after === '' ? {} : { StartAfter: this.#prefix + after }),
        }),
      );
      const keys = (answer.Contents ?? []).flatMap(({ Key: key }) => (key === undefined ? [] : [key.slice(this.#prefix.length)]));
      return { keys, more: answer.IsTruncated === true };
    } catch (error) {
      throw this.#failure(error, prefix);
    }
  }

  /** A connection that breaks in the middle of a file is the storage's failure, not the reader's. */
  async *#chunks(body: Readable, key: string): AsyncGenerator<Uint8Array> {
    try {
      yield* body as AsyncIterable<Uint8Array>;
    } catch (error) {
      throw this.#failure(error, key);
    } finally {
      body.destroy();
    }
  }

  #sendOptions(options: { readonly signal?: AbortSignal }): { abortSignal?: AbortSignal } {
    return options.signal === undefined ? {} : { abortSignal: options.signal };
  }

  #failure(error: unknown, key: string): unknown {
    return s3Failure(error, { bucket: this.#bucket, key });
  }
}
