/** Stores the entries of a bulk upload, many in one transaction, and reports the outcome of each. */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';

import { fileKey } from '../../../knowledge/ingestion/clear-document.ts';
import type { JobStarter } from '../../../knowledge/jobs/job-starter.ts';
import { StorageError, type StoredFile } from '../../../knowledge/storage/file-storage.ts';
import { Semaphore } from '../../../platform/semaphore.ts';
import { newDocumentId, StoreError, type Collection, type KnowledgeStore } from '../../../store/index.ts';
import { submissionKey, type NewFile } from '../../../store/knowledge/bulk-documents.ts';
import { ApiError, notFound } from '../../http/api-error.ts';
import { toApiError } from '../../http/reply.ts';
import { MAX_FILE_BYTES } from '../schema.ts';
import type { UploadStorage } from '../upload.ts';
import { EntryError, tooLargeFile, type BulkEntry, type EntryFailure, type SoundEntry } from './entry.ts';

export interface EntryResult {
  readonly index: number;
  /** Absent where the name could not be read. */
  readonly name?: string;
  readonly status: 'accepted' | 'failed';
  readonly document_id?: string;
  /** Set where the entry was stored before. */
  readonly existing: boolean;
  readonly error?: EntryFailure;
  readonly warnings?: readonly string[];
}

export interface BulkUploadOptions {
  readonly collection: Collection;
  readonly createdBy: string | null;
  readonly bulk: KnowledgeStore['bulk'];
  readonly files: UploadStorage;
  readonly starter: Pick<JobStarter, 'ingest'>;
  readonly signal: AbortSignal;
}

/** Most files that are written at a time. */
const WRITES_AT_ONCE = 16;

type Outcome = { readonly id: string; readonly existing: boolean } | EntryFailure;

/** A file with its key, and once it is stored with its counted bytes and hash. */
interface Candidate {
  readonly file: SoundEntry;
  readonly id: string;
  key: string | undefined;
  sha256: string | undefined;
  stored: StoredFile | undefined;
  outcome: Outcome | undefined;
}

export class BulkUpload {
  readonly #options: BulkUploadOptions;
  readonly #writing = new Semaphore(WRITES_AT_ONCE);
  /** Failure of an unavailable server: each of the other entries would wait for it as long. */
  #stopped: EntryFailure | undefined;

  constructor(options: BulkUploadOptions) {
    this.#options = options;
  }

  /** @returns one result for each entry, in their order. An `accepted` document outlives this process. */
  async take(entries: readonly BulkEntry[]): Promise<readonly EntryResult[]> {
    const candidates = new Map(entries.flatMap((entry) => ('file' in entry ? [[entry, candidateOf(entry.file)] as const] : [])));
    if (this.#stopped === undefined) await this.#store([...candidates.values()]);
    return entries.map((entry) => {
      const { index, name, warnings } = entry;
      const outcome = 'failure' in entry ? entry.failure : (candidates.get(entry)?.outcome ?? this.#stopped ?? unanswered);
      const shown = { index, ...(name !== null && { name }), ...(warnings !== undefined && { warnings }) };
      return 'code' in outcome
        ? { ...shown, status: 'failed', existing: false, error: outcome }
        : { ...shown, status: 'accepted', document_id: outcome.id, existing: outcome.existing };
    });
  }

  async #store(candidates: readonly Candidate[]): Promise<void> {
    try {
      await this.#recognise(candidates);
      await Promise.all(leadersOf(candidates).map((candidate) => this.#write(candidate)));
      // The hashes of large files are known only now.
      await this.#recognise(candidates.filter(({ file, outcome }) => !Buffer.isBuffer(file.content) && outcome === undefined));
      await this.#create(leadersOf(candidates));
    } catch (error) {
      this.#stopped = this.#failureOf(error);
      for (const candidate of candidates) candidate.outcome ??= this.#stopped;
    }
    follow(candidates);
    await Promise.all(candidates.map((candidate) => this.#tidy(candidate)));
  }

  /** Marks the candidates that are stored already. */
  async #recognise(candidates: readonly Candidate[]): Promise<void> {
    const { collection, bulk } = this.#options;
    const identified = candidates.flatMap((candidate) => {
      const identity = uploadIdentity(candidate);
      return identity === undefined || candidate.outcome !== undefined ? [] : [{ candidate, identity }];
    });
    if (identified.length === 0) return;
    const known = await bulk.known(
      { org: collection.org, collectionId: collection.id },
      identified.map(({ identity }) => identity),
    );
    for (const { candidate, identity } of identified) {
      candidate.key = identity.key;
      const id = known.get(identity.key);
      if (id !== undefined) candidate.outcome = { id, existing: true };
    }
  }

  async #write(candidate: Candidate): Promise<void> {
    const { collection, files, signal } = this.#options;
    const release = await this.#writing.acquire(signal);
    try {
      const { content } = candidate.file;
      const stream = Buffer.isBuffer(content) ? Readable.from([content], { objectMode: false }) : await content();
      candidate.stored = await files.put(fileKey(collection.org, candidate.id), stream, { maxBytes: MAX_FILE_BYTES, signal });
      candidate.sha256 = candidate.stored.sha256;
    } catch (error) {
      if (error instanceof EntryError) candidate.outcome = error.failure;
      else if (error instanceof StorageError && error.kind === 'too_large') candidate.outcome = tooLargeFile().failure;
      else throw error;
    } finally {
      release();
    }
  }

  async #create(leaders: readonly Candidate[]): Promise<void> {
    const { collection, createdBy, bulk, starter } = this.#options;
    const { org, id: collectionId, name: knowledgeBase } = collection;
    const documents = await bulk.create({ org, collectionId, createdBy }, leaders.map(rowOf(org)));
    for (const candidate of leaders) {
      const id = documents.get(candidate.key ?? '') ?? candidate.id;
      candidate.outcome = { id, existing: id !== candidate.id };
      if (id === candidate.id) starter.ingest({ org, knowledgeBase, collectionId, documentId: id, bytes: candidate.stored?.bytes ?? 0 });
    }
  }

  /** Removes the file of a candidate that did not become a document; the sweep of orphaned files removes what this can't. */
  async #tidy({ id, stored, outcome }: Candidate): Promise<void> {
    if (stored === undefined || outcome === undefined || ('id' in outcome && outcome.id === id)) return;
    // A lost answer may have been a success: the file is needed then.
    if ('code' in outcome && outcome.code === 'unavailable') return;
    await this.#options.files.delete(fileKey(this.#options.collection.org, id)).catch(() => undefined);
  }

  #failureOf(error: unknown): EntryFailure {
    const { signal } = this.#options;
    const cause = signal.aborted ? signal.reason : error;
    // The knowledge base was deleted while the entries were on their way.
    const failure = cause instanceof StoreError && cause.kind === 'not_found' ? notFound('Knowledge base') : toApiError(cause);
    return failure instanceof ApiError ? { code: failure.code, message: failure.message } : unanswered;
  }
}

const unanswered: EntryFailure = { code: 'internal_error', message: 'something went wrong on our side; send the entry again' };

function candidateOf(file: SoundEntry): Candidate {
  const sha256 = Buffer.isBuffer(file.content) ? createHash('sha256').update(file.content).digest('hex') : undefined;
  return { file, id: newDocumentId(), key: undefined, sha256, stored: undefined, outcome: undefined };
}

function uploadIdentity({ file: { idempotencyKey: given }, sha256 }: Candidate) {
  if (given === undefined && sha256 === undefined) return undefined;
  return submissionKey({ given, sha256: sha256 ?? '' });
}

/** Returns, of those whose outcome is open, the first of each key, and all that have no key. */
function leadersOf(candidates: readonly Candidate[]): readonly Candidate[] {
  const seen = new Set<string>();
  return candidates.filter(({ key, outcome }) => {
    if (outcome !== undefined || (key !== undefined && seen.has(key))) return false;
    if (key !== undefined) seen.add(key);
    return true;
  });
}

/** Gives the others of a key the outcome of its first one. */
function follow(candidates: readonly Candidate[]): void {
  const leaders = new Map<string, Outcome>();
  for (const candidate of candidates) {
    const { key, outcome } = candidate;
    if (key === undefined) continue;
    const led = leaders.get(key);
    if (led === undefined) {
      if (outcome !== undefined) leaders.set(key, outcome);
    } else candidate.outcome = outcome ?? ('id' in led ? { id: led.id, existing: true } : led);
  }
}

function rowOf(org: string): (candidate: Candidate) => NewFile {
  return ({ id, file, stored, ...candidate }) => {
    const identity = uploadIdentity({ id, file, stored, ...candidate });
    if (identity === undefined || stored === undefined) throw new Error(`document ${id}: its file was not stored`);
    const { filename, extension, metadata } = file;
    const { bytes, sha256 } = stored;
    return { ...identity, id, filename, extension, objectKey: fileKey(org, id), bytes, contentSha256: sha256, metadata };
  };
}
