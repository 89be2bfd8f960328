/**
 * Ingests small documents in one go, from their stored content to `completed`. Documents that were read meanwhile are written together: one
 * write of the vector store and one transaction for many, each with an outcome of its own. Failures other than the document's own leave
 * nothing that the stages would not find and replace.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

import { Batcher } from '../../platform/batcher.ts';
import { Semaphore } from '../../platform/semaphore.ts';
import type { Collection, DocumentRecord, EndedDocument, NewEvent } from '../../store/index.ts';
import { SMALL_FILE_MS, type DocumentJob } from '../jobs/names.ts';
import { NoTimeForPagesError, withoutTime } from '../ocr/page-reader.ts';
import { documentVector } from '../lexical/vectors.ts';
import { collectionRef } from '../search/create-search.ts';
import { tieBreakerOf } from '../search/tie-breaker.ts';
import type { VectorRecord } from '../vector-stores/vector-store.ts';
import { chunkDocument, type ReadChunk, type ReadFacts, type ReadingDependencies } from './chunk-document.ts';
import { clearLateVectors } from './clear-document.ts';
import { completionMessage, documentCompleted } from './complete-document.ts';
import { vectorRecord } from './index-document.ts';
import { DocumentGoneError, type IngestionDependencies } from './step.ts';
import { requireFound } from './verify-document.ts';

/** Most chunks of one document that are held in memory: one write of the vector store. */
export const SMALL_DOCUMENT_CHUNKS = 250;
/** Most documents that are written together. */
const WRITTEN_TOGETHER = 64;
/** Most chunks of documents that are written together. */
const CHUNKS_TOGETHER = 500;

export interface OnePassDependencies extends ReadingDependencies, Pick<IngestionDependencies, 'vectors' | 'clock'> {
  /** Documents that are read at the same time, plus one of an organisation of which none is. */
  readonly readersAtOnce: number;
}

/** - `staged`: its kind takes stages. `large`: it has turned out to be long. Neither of these two wrote anything. */
export type OnePassOutcome =
  | {
      readonly outcome: 'completed';
      readonly replaced: readonly string[];
      readonly document: DocumentRecord;
    }
  | { readonly outcome: 'staged'; readonly kind: DocumentRecord['kind'] }
  | { readonly outcome: 'large' };

interface Opened {
  readonly job: DocumentJob;
  readonly document: DocumentRecord;
  readonly collection: Collection;
}

interface Whole extends Opened {
  /** Builds the event in the document's own trace; the batch belongs to the trace of its first document. */
  readonly eventOf: (ended: EndedDocument) => NewEvent;
  readonly chunks: readonly ReadChunk[];
  readonly facts: ReadFacts;
}

export class OnePass {
  readonly #dependencies: OnePassDependencies;
  readonly #readers: Semaphore;
  readonly #opening: Batcher<DocumentJob, Opened | undefined>;
  readonly #writing: Batcher<Whole, readonly string[] | undefined>;

  constructor(dependencies: OnePassDependencies) {
    this.#dependencies = dependencies;
    this.#readers = new Semaphore(dependencies.readersAtOnce, { kept: 1 });
    this.#opening = new Batcher({ most: 100, keyOf: ({ org }) => org, work: (jobs, org) => this.#open(org, jobs) });
    this.#writing = new Batcher({
      keyOf: ({ collection }) => `${collection.org}/${collection.id}`,
      most: WRITTEN_TOGETHER,
      mostWeight: CHUNKS_TOGETHER,
      weightOf: ({ chunks }) => chunks.length,
      work: (documents) => this.#write(documents),
    });
  }

  /**
   * @throws IngestionError when the document is at fault, DocumentGoneError when it is deleted or at an end
   * @throws the signal's reason, and any error of a store: it may be retried
   */
  async ingest(job: DocumentJob, signal: AbortSignal): Promise<OnePassOutcome> {
    const opened = await this.#opening.add(job);
    if (opened === undefined) throw new DocumentGoneError(job.documentId);
    const { document, collection } = opened;
    if (document.kind === 'website' || collection.dimension > 0) return { outcome: 'staged', kind: document.kind };
    const whole = await this.#read(opened, signal);
    if (whole === undefined) return { outcome: 'large' };
    signal.throwIfAborted();
    const replaced = await this.#writing.add(whole);
    if (replaced === undefined) throw new DocumentGoneError(job.documentId);
    return { outcome: 'completed', replaced, document: { ...document, chunkCount: whole.chunks.length } };
  }

  async #open(org: string, jobs: readonly DocumentJob[]): Promise<readonly (Opened | undefined)[]> {
    const opened = await this.#dependencies.knowledge.documents.openAll({ org, ids: jobs.map(({ documentId }) => documentId) });
    return jobs.map((job) => {
      const found = opened.get(job.documentId);
      return found && { job, ...found };
    });
  }

  /**
   * @returns undefined for a document that has more chunks than are held in memory, takes longer than a small file does, or has pages to
   * recognise
   */
  async #read(opened: Opened, outer: AbortSignal): Promise<Whole | undefined> {
    const release = await this.#readers.acquire(outer, opened.document.org);
    const late = new AbortController();
    const timer = this.#dependencies.clock.after(SMALL_FILE_MS, () => late.abort());
    try {
      const dependencies = { ...this.#dependencies, ocr: withoutTime(this.#dependencies.ocr) };
      const reading = chunkDocument({ ...opened, signal: AbortSignal.any([outer, late.signal]) }, dependencies);
      const chunks: ReadChunk[] = [];
      for await (const chunk of reading.chunks()) {
        if (chunks.length === SMALL_DOCUMENT_CHUNKS) return undefined;
        chunks.push(chunk);
      }
      return { ...opened, eventOf: this.#eventOf(), chunks, facts: reading.facts() };
    } catch (error) {
      if (error instanceof NoTimeForPagesError || (late.signal.aborted && error === late.signal.reason)) return undefined;
      throw error;
    } finally {
      timer.cancel();
      release();
    }
  }

  #eventOf(): Whole['eventOf'] {
    return AsyncLocalStorage.bind((ended: EndedDocument) => documentCompleted(ended, this.#dependencies.clock.now()));
  }

  /** Writes documents of one collection. Vectors come first: searches find them only when Postgres says that the document is completed. */
  async #write(documents: readonly Whole[]): Promise<readonly (readonly string[] | undefined)[]> {
    const { knowledge, vectors } = this.#dependencies;
    const [first] = documents;
    if (first === undefined) return [];
    const { collection } = first;
    const ref = collectionRef(collection);
    const ends = documents.map(({ document, chunks, facts, eventOf }) => ({
      id: document.id,
      message: completionMessage({ ...document, warnings: facts.warnings, chunkCount: chunks.length }),
      content: { ...facts, chunks: chunks.map(({ stored }) => stored) },
      eventOf,
    }));
    const records = documents.map(recordsOf);
    await vectors.upsert(ref, records.flat());
    for (const sample of new Set([records[0], records.at(-1)])) if (sample !== undefined) await requireFound(ref, sample, vectors);
    const completed = await knowledge.completion.complete(collection.org, ends);
    return Promise.all(ends.map(async ({ id }) => completed.get(id) ?? this.#endedBefore(collection, id)));
  }

  /**
   * Handles a document that another attempt has completed, whose answer was lost, or that was deleted while it was written: then its
   * vectors go, too.
   */
  async #endedBefore(collection: Collection, id: string): Promise<readonly string[] | undefined> {
    const document = await this.#dependencies.knowledge.documents.get({ org: collection.org, id });
    if (document?.status === 'completed') return [];
    await clearLateVectors({ collection, documentId: id }, this.#dependencies);
    return undefined;
  }
}

function recordsOf({ document, facts, chunks }: Whole): readonly VectorRecord[] {
  const tieBreaker = tieBreakerOf(document);
  // The row gets its title only when it is completed.
  const parsed = { ...document, title: facts.title ?? null };
  return chunks.map(({ stored, terms }) => vectorRecord({ document: parsed, chunk: stored, tieBreaker, sparse: documentVector(terms) }));
}
