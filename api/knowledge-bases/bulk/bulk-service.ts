/** Receives many files with one request. */
import { addAbortSignal, PassThrough, Readable } from 'node:stream';

import { Counter, type Registry } from 'prom-client';

import type { JobStarter } from '../../../knowledge/jobs/job-starter.ts';
import { fileKey } from '../../../knowledge/ingestion/clear-document.ts';
import { StorageError, type FileStorage } from '../../../knowledge/storage/file-storage.ts';
import type { Clock } from '../../../platform/clock.ts';
import { toError } from '../../../platform/caught.ts';
import type { Logger } from '../../../platform/logging.ts';
import { paced } from '../../../platform/pacer.ts';
import { newDocumentId, type Collection, type KnowledgeStore } from '../../../store/index.ts';
import { ApiError } from '../../http/api-error.ts';
import type { Caller } from '../../http/caller.ts';
import type { RequestState } from '../../http/request-state.ts';
import type { StreamedType } from '../../http/streamed-bodies.ts';
import type { BaseCollections } from '../base-collections.ts';
import { openArchiveEntries } from './archive-entries.ts';
import { batches } from './batches.ts';
import { BulkUpload, type EntryResult } from './bulk-upload.ts';
import type { BulkEntry } from './entry.ts';
import { MAX_BODY_BYTES, UPLOADS_AT_ONCE } from './limits.ts';
import { lineEntries } from './line-entries.ts';
import { ResultStream, type ResultFormat } from './result-stream.ts';
import { StoredFileReader } from './stored-file-reader.ts';
import { UploadPace } from './upload-pace.ts';

/** Bounds of one transaction: the contents of its entries are in memory together. */
const BATCH = { items: 200, weight: 4 * 1024 * 1024, idleMs: 250 } as const;

export interface BulkServiceOptions {
  readonly bases: BaseCollections;
  readonly store: Pick<KnowledgeStore, 'bulk'>;
  readonly files: Pick<FileStorage, 'put' | 'read' | 'delete'>;
  readonly starter: JobStarter;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly registry: Registry;
}

export interface BulkRequest {
  readonly type: StreamedType;
  readonly body: Readable;
  readonly contentLength: number;
  readonly format: ResultFormat;
  readonly state: RequestState;
}

/** A source of entries; `close` runs when they have all been read. */
interface Source {
  readonly entries: AsyncIterable<BulkEntry>;
  close(): Promise<void>;
}

export class BulkService {
  readonly #options: BulkServiceOptions;
  /** Organisations of the uploads whose answers aren't fully written. */
  readonly #running = new Map<Promise<void>, string>();
  readonly #entries: Counter<'outcome'>;

  constructor(options: BulkServiceOptions) {
    this.#options = options;
    this.#entries = new Counter({
      name: 'parley_bulk_upload_entries_total',
      help: 'Entries of uploads of many files, by outcome: accepted, existing (stored before) or failed.',
      labelNames: ['outcome'],
      registers: [options.registry],
    });
  }

  /**
   * @returns the results as they come
   * @throws ApiError for a fault of the request as a whole: nothing was stored then
   */
  async submit({ org, userId }: Caller, baseName: string, request: BulkRequest): Promise<Readable> {
    if (request.contentLength > MAX_BODY_BYTES) throw tooLarge();
    const uploads = [...this.#running.values()].filter((each) => each === org).length;
    if (uploads >= UPLOADS_AT_ONCE)
      throw new ApiError('rate_limited', `${uploads} bulk uploads of this organisation are running: send this one when one has ended`, {
        retryAfterSeconds: 1,
      });
    const begun = this.#begin({ org, userId }, baseName, request);
    const over: Promise<void> = begun
      .then(({ written }) => written)
      .catch(() => undefined)
      .finally(() => this.#running.delete(over));
    this.#running.set(over, org);
    return (await begun).results;
  }

  async #begin(
    { org, userId }: Pick<Caller, 'org' | 'userId'>,
    baseName: string,
    request: BulkRequest,
  ): Promise<{ readonly results: Readable; readonly written: Promise<void> }> {
    const { bases, store, files, starter } = this.#options;
    const { state } = request;
    const collection = await bases.ensure(org, baseName);
    const pace = new UploadPace(state, this.#options.clock);
    const body = Readable.from(counted(abortable(request.body, state.signal), pace), { objectMode: false });
    const source = request.type === 'application/zip' ? await this.#archive(collection, body, state.signal) : lineSource(body);
    const results = new ResultStream(request.format);
    const upload = new BulkUpload({ collection, createdBy: userId, bulk: store.bulk, files, starter, signal: state.signal });
    return { results: results.readable, written: this.#run(source, { upload, pace, results, state }) };
  }

  /** Waits for the uploads that have begun. */
  async close(): Promise<void> {
    await Promise.all(this.#running.keys());
  }

  async #run(
    source: Source,
    {
      upload,
      pace,
      results,
      state,
    }: { readonly upload: BulkUpload; readonly pace: UploadPace; readonly results: ResultStream; readonly state: RequestState },
  ): Promise<void> {
    const { clock } = this.#options;
    try {
      for await (const batch of batches(paced(source.entries), { ...BATCH, weightOf, clock })) {
        await pace.entries(batch.length);
        const taken = await state.timed('upload', () => upload.take(batch));
        this.#count(state, taken);
        results.write(taken);
      }
      results.end();
    } catch (thrown) {
      // The aborted stream wraps the signal's reason in an error of its own.
      const error: unknown = state.signal.aborted ? state.signal.reason : thrown;
      state.failure ??= error;
      this.#options.logger.warn({ err: error, traceId: state.traceId }, 'a bulk upload broke off; what was answered as accepted is kept');
      results.breakOff(toError(error));
    } finally {
      await source.close();
    }
  }

  #count(state: RequestState, results: readonly EntryResult[]): void {
    const counts = { accepted: 0, existing: 0, failed: 0, ...state.entries };
    for (const { status, existing } of results) {
      const outcome = existing ? 'existing' : status;
      counts[outcome] += 1;
      this.#entries.inc({ outcome });
    }
    state.entries = counts;
  }

  /** Stores an archive first, as it is read from its end, under a key of no document: the sweep of orphaned files finds it. */
  async #archive({ org }: Collection, body: Readable, signal: AbortSignal): Promise<Source> {
    const { files } = this.#options;
    const key = fileKey(org, newDocumentId());
    const close = (): Promise<void> => files.delete(key).catch(() => undefined);
    try {
      const { bytes } = await files.put(key, body, { maxBytes: MAX_BODY_BYTES, signal });
      return { entries: await openArchiveEntries(new StoredFileReader({ files, key, bytes, signal }), bytes), close };
    } catch (error) {
      await close();
      throw error instanceof StorageError && error.kind === 'too_large' ? tooLarge() : error;
    }
  }
}

function lineSource(body: Readable): Source {
  return { entries: lineEntries(body), close: async () => undefined };
}

/** Copies a body, so that reading may end early, and by the signal: the body itself must stay, as its connection carries the answer. */
function abortable(body: Readable, signal: AbortSignal): Readable {
  const copy = new PassThrough();
  body.on('error', (error) => copy.destroy(error));
  return addAbortSignal(signal, body.pipe(copy));
}

async function* counted(body: AsyncIterable<Uint8Array>, pace: UploadPace): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    await pace.bytes(chunk.length);
    yield chunk;
  }
}

function weightOf(entry: BulkEntry): number {
  return 'file' in entry && Buffer.isBuffer(entry.file.content) ? entry.file.content.length : 0;
}

function tooLarge(): ApiError {
  return new ApiError('payload_too_large', `the body is too large: one request takes ${MAX_BODY_BYTES / 1024 / 1024} MB`);
}
