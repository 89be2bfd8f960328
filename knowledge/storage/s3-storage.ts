/** Stores files in a bucket of S3, or of a server that speaks its protocol. */
import { Readable } from 'node:stream';

import { DeleteObjectCommand, GetObjectCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';

import { checkKey, checkPrefix, type ReadOptions, StorageError, type StoredFile } from './file-storage.ts';
import { Meter } from './meter.ts';
import type { OpenedFileStorage } from './file-storage.ts';
import { present } from '../../platform/present.ts';

/** Size of a part: at most three parts of a file are in memory. */
const PART_BYTES = 8 * 1024 * 1024;
const PARTS_AT_ONCE = 2;

/** Most keys that the protocol returns in one listing. */
const LISTING_PAGE = 1000;

interface S3StorageOptions {
  readonly bucket: string;
  /** Prefix of all keys: empty, or with a slash at its end. */
  readonly prefix: string;
  readonly endpoint?: string | undefined;
  readonly region?: string | undefined;
  readonly forcePathStyle?: boolean | undefined;
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

export class S3Storage implements OpenedFileStorage {
  readonly #client: S3Client;
  readonly #bucket: string;
  readonly #prefix: string;

  /** Opens connections of its own, and sends the bucket nothing yet. */
  constructor({ bucket, prefix, endpoint, region, forcePathStyle = false, credentials }: S3StorageOptions) {
    this.#client = new S3Client({
      ...present({ endpoint, region, credentials }),
      forcePathStyle,
      maxAttempts: 3,
      // These are milliseconds: until connected, until the head of the answer, without a byte.
      requestHandler: { connectionTimeout: 5000, requestTimeout: 60_000, throwOnRequestTimeout: true, socketTimeout: 60_000 },
      // Not every server that speaks the protocol knows the checksums that the client would add by itself.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
    });
    this.#bucket = bucket;
    this.#prefix = prefix;
  }

  close(): void {
    this.#client.destroy();
  }

  async put(key: string, content: Readable, options: { readonly maxBytes: number; readonly signal?: AbortSignal }): Promise<StoredFile> {
    const meter = new Meter(content, options);
    try {
      checkKey(key);
      const upload = new Upload({
        client: this.#client,
        params: { Bucket: this.#bucket, Key: this.#prefix + key, Body: Readable.from(meter.chunks(), { objectMode: false }) },
        partSize: PART_BYTES,
        queueSize: PARTS_AT_ONCE,
      });
      // The upload is ended through its content, never by `abort()`: that returns before the parts are removed.
      await upload.done();
      return meter.result();
    } catch (error) {
      content.destroy();
      options.signal?.throwIfAborted();
      throw meter.failure === undefined ? this.#failure(error, key) : meter.failure.reason;
    }
  }

  async read(key: string, { range, signal }: ReadOptions = {}): Promise<Readable> {
    checkKey(key);
    try {
      const command = new GetObjectCommand({
        Bucket: this.#bucket,
        Key: this.#prefix + key,
        ...(range !== undefined && { Range: `bytes=${range.start}-${range.end}` }),
      });
      const { Body: body } = await this.#client.send(command, signal && { abortSignal: signal });
      return Readable.from(this.#chunks(body as Readable, key), {
        objectMode: false,
        ...(signal && { signal }),
      });
    } catch (error) {
      signal?.throwIfAborted();
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

  async list(prefix: string, page: { readonly after?: string | undefined; readonly limit: number }): Promise<readonly string[]> {
    checkPrefix(prefix);
    const keys: string[] = [];
    let after = page.after ?? '';
    while (keys.length < page.limit) {
      const wanted = Math.min(page.limit - keys.length, LISTING_PAGE);
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

  /** Turns a connection that breaks in the middle of a file into the storage's failure, not the reader's. */
  async *#chunks(body: Readable, key: string): AsyncGenerator<Uint8Array> {
    try {
      yield* body as AsyncIterable<Uint8Array>;
    } catch (error) {
      throw this.#failure(error, key);
    } finally {
      body.destroy();
    }
  }

  #failure(error: unknown, key: string): unknown {
    return s3Failure(error, { bucket: this.#bucket, key });
  }
}

interface S3Complaint {
  readonly name?: string;
  readonly message?: string;
  readonly code?: unknown;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

/** Status codes below 500 that nevertheless pass. */
const PASSING = new Set([
  'RequestTimeout',
  'SlowDown',
  'Throttling',
  'TooManyRequests',
  'OperationAborted',
  'ServiceUnavailable',
  'InternalError',
]);

/** Maps a failure of the S3 client to a {@link StorageError}. */
function s3Failure(error: unknown, at: { readonly bucket: string; readonly key: string }): unknown {
  if (error instanceof StorageError || !(error instanceof Error)) return error;
  const complaint = error as S3Complaint;
  const status = complaint.$metadata?.httpStatusCode;
  const name = complaint.name ?? '';
  const failure = (kind: StorageError['kind'], message: string): StorageError => new StorageError(kind, message, { cause: error });
  if (name === 'NoSuchBucket') return failure('refused', `there is no bucket ${at.bucket}: create it, or correct STORAGE_URL`);
  if (name === 'NoSuchKey' || name === 'NotFound') return failure('not_found', `there is no file ${at.key} in the storage`);
  if (name === 'EntityTooLarge') return failure('too_large', `the storage takes no file as long as ${at.key}`);
  if (name === 'CredentialsProviderError') {
    return failure(
      'refused',
      `there are no credentials for the bucket ${at.bucket}: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give the pod a role`,
    );
  }
  const refused = status !== undefined && status >= 400 && status < 500 && status !== 408 && status !== 429 && !PASSING.has(name);
  const detail = `${name === 'Error' ? '' : `${name}: `}${error.message}`;
  if (refused) return failure('refused', `the bucket ${at.bucket} refused the request (${detail}): check credentials and permissions`);
  return failure('unavailable', `the bucket ${at.bucket} can't be reached (${detail})`);
}
