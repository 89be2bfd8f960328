/** The steps of an ingestion as Temporal activities. They send heartbeats and map failures. */
import { ApplicationFailure, Context } from '@temporalio/activity';
import { Counter, Histogram, type Registry } from 'prom-client';

import { EmbeddingError } from '../../knowledge/embedding/embedding-error.ts';
import { DocumentGoneError, type IngestionDependencies, type Step } from '../../knowledge/ingestion/step.ts';
import { openDocument } from '../../knowledge/ingestion/step.ts';
import { completionMessage, documentCompleted, documentFailed } from '../../knowledge/ingestion/complete-document.ts';
import { fetchDocumentPages, type FetchingDependencies } from '../../knowledge/ingestion/fetch-document-pages.ts';
import { indexDocument } from '../../knowledge/ingestion/index-document.ts';
import { OnePass, type OnePassDependencies } from '../../knowledge/ingestion/one-pass.ts';
import { readDocument } from '../../knowledge/ingestion/read-document.ts';
import { verifyDocument } from '../../knowledge/ingestion/verify-document.ts';
import { NoTimeForPagesError, withoutTime } from '../../knowledge/ocr/page-reader.ts';
import { IngestionError } from '../../knowledge/ingestion-failure.ts';
import type { DocumentJob } from '../../knowledge/jobs/names.ts';
import type { DocumentRecord, DocumentStage, EndedDocument, NewEvent } from '../../store/index.ts';
import { whileAlive } from '../while-alive.ts';
import { failureTypes, type IngestionActivities } from './types.ts';

export type IngestionActivityDependencies = OnePassDependencies &
  FetchingDependencies &
  IngestionDependencies & {
    readonly registry: Registry;
    /** Longest time without any progress before a document is given up, in milliseconds; 30 min by default. */
    readonly stalledAfterMs?: number;
  };

interface Heartbeat {
  readonly stage: DocumentStage;
  readonly done: number;
  readonly total?: number | undefined;
}

/** Shortest time between two writes of progress to Postgres, in milliseconds; Temporal gets each as a heartbeat. */
const SHOW_EVERY_MS = 1_000;

export function createIngestionActivities(dependencies: IngestionActivityDependencies): IngestionActivities {
  const { knowledge, logger, registry, clock, stalledAfterMs = 30 * 60_000 } = dependencies;
  const ended = new Counter({
    name: 'parley_documents_ended_total',
    help: 'Documents whose ingestion came to an end, by outcome: completed, or the code of the failure.',
    labelNames: ['outcome'],
    registers: [registry],
  });
  const seconds = new Histogram({
    name: 'parley_ingestion_stage_seconds',
    help: 'Time for one attempt at one stage of an ingestion.',
    labelNames: ['stage', 'result'],
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 120, 300, 600],
    registers: [registry],
  });

  const completed = (job: DocumentJob, document: DocumentRecord | undefined): void => {
    ended.inc({ outcome: 'completed' });
    logger.info({ ...aboutIngestion(job, document, clock.now()), outcome: 'completed' }, 'ingestion');
  };

  const onePass = new OnePass(dependencies);

  const fail = async (job: DocumentJob, failure: { readonly code: string; readonly message: string }): Promise<void> => {
    const ref = { org: job.org, id: job.documentId };
    const document = await knowledge.documents.get(ref);
    const failed = await knowledge.ingestion.fail(ref, failure, (done) => documentFailed(done, failure, clock.now()));
    if (!failed) return;
    ended.inc({ outcome: failure.code });
    logger.warn({ ...aboutIngestion(job, document, clock.now()), outcome: 'failed', reason: failure.code }, 'ingestion');
  };

  const onDocument = stageRunner(dependencies, seconds, stalledAfterMs);

  return {
    async ingestInOnePass(job) {
      const startedAt = clock.monotonic();
      const observe = (result: string): void => seconds.observe({ stage: 'one_pass', result }, (clock.monotonic() - startedAt) / 1000);
      try {
        const result = await onePass.ingest(job, Context.current().cancellationSignal);
        observe('done');
        if (result.outcome !== 'completed') return result;
        completed(job, result.document);
        return { outcome: 'completed', replaced: result.replaced };
      } catch (error) {
        observe('failed');
        if (error instanceof DocumentGoneError) return { outcome: 'gone' };
        if (!(error instanceof IngestionError)) throw error;
        await fail(job, error);
        return { outcome: 'failed' };
      }
    },
    async beginIngestion(job) {
      const document = await knowledge.documents.get({ org: job.org, id: job.documentId });
      return document?.status === 'processing' ? document.kind : undefined;
    },
    fetchPages: (job) => onDocument(job, 'fetching', (step) => fetchDocumentPages(step, dependencies)),
    parseDocument: (job, limit) =>
      onDocument(job, 'parsing', (step) =>
        limit === undefined
          ? readDocument(step, dependencies)
          : within(limit.withinMs, step.signal, (signal) =>
              readDocument({ ...step, signal }, { ...dependencies, ocr: withoutTime(dependencies.ocr) }),
            ),
      ),
    indexDocument: (job) => onDocument(job, 'indexing', (step, last) => indexDocument({ ...step, from: last?.done ?? 0 }, dependencies)),
    verifyDocument: (job) =>
      onDocument(job, 'verifying', async (step) => {
        await step.report(0, step.document.chunkCount);
        await verifyDocument(step, dependencies);
      }),
    async completeDocument(job) {
      const ref = { org: job.org, id: job.documentId };
      const document = await knowledge.documents.get(ref);
      if (document === undefined) return [];
      const eventOf = (done: EndedDocument): NewEvent => documentCompleted(done, clock.now());
      const ends = await knowledge.completion.complete(job.org, [{ id: job.documentId, message: completionMessage(document), eventOf }]);
      // Searches find the document already; each step only weighs its terms more exactly. An attempt that breaks off here is resumed.
      while (await knowledge.ingestion.countMoreTerms(ref));
      const replaced = ends.get(job.documentId);
      if (replaced === undefined) return [];
      completed(job, document);
      return replaced;
    },
    failDocument: fail,
  };
}

/** Runs steps on documents that are still wanted, and maps their failures to those of Temporal. */
function stageRunner(dependencies: IngestionActivityDependencies, seconds: Histogram<'stage' | 'result'>, stalledAfterMs: number) {
  const { knowledge, clock } = dependencies;
  return async <T>(job: DocumentJob, stage: DocumentStage, work: (step: Step, last: Heartbeat | undefined) => Promise<T>): Promise<T> => {
    const context = Context.current();
    const last = context.info.heartbeatDetails as Heartbeat | undefined;
    const ref = { org: job.org, id: job.documentId };
    const startedAt = clock.monotonic();
    let shownAt = -Infinity;
    let beat: Heartbeat = { stage, done: 0 };
    const gone = new AbortController();
    const signal = AbortSignal.any([context.cancellationSignal, gone.signal]);
    const report = async (done: number, total?: number): Promise<void> => {
      signal.throwIfAborted();
      beat = { stage, done, total };
      context.heartbeat(beat);
      if (clock.monotonic() - shownAt < SHOW_EVERY_MS) return;
      shownAt = clock.monotonic();
      if (await knowledge.ingestion.progress(ref, { stage, done, ...(total !== undefined && { total }) })) return;
      gone.abort();
      throw new DocumentGoneError(job.documentId);
    };
    const run = async (): Promise<T> => {
      const { document, collection } = await openDocument(dependencies, job);
      if (context.info.attempt > 1) requireProgress(document.progressAt, stage, clock.now(), stalledAfterMs);
      return work({ document, collection, signal, report }, last?.stage === stage ? last : undefined);
    };
    try {
      const result = await whileAlive(() => context.heartbeat(beat), run);
      seconds.observe({ stage, result: 'done' }, (clock.monotonic() - startedAt) / 1000);
      return result;
    } catch (error) {
      seconds.observe({ stage, result: 'failed' }, (clock.monotonic() - startedAt) / 1000);
      throw toApplicationFailure(error);
    }
  };
}

/** The fields of an ingestion's log line: ids and numbers, never a name, an address or a text. */
function aboutIngestion(job: DocumentJob, document: DocumentRecord | undefined, now: number): object {
  return {
    org: job.org,
    knowledgeBase: job.knowledgeBase,
    documentId: job.documentId,
    source: document?.kind,
    bytes: document?.bytes ?? undefined,
    chunks: document?.chunkCount,
    durationMs: document === undefined ? undefined : now - document.createdAt.getTime(),
  };
}

/** The work took longer than it was given. */
class SlowDocumentError extends Error {
  override readonly name = 'SlowDocumentError';
}

async function within<T>(ms: number, outer: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new SlowDocumentError(`not done within ${ms} ms`)), ms);
  try {
    return await work(AbortSignal.any([outer, late.signal]));
  } finally {
    clearTimeout(timer);
  }
}

function requireProgress(progressAt: Date, stage: DocumentStage, now: number, stalledAfterMs: number): void {
  const stoodStillMs = now - progressAt.getTime();
  if (stoodStillMs < stalledAfterMs) return;
  throw new IngestionError(
    'stalled',
    `no progress for ${Math.round(stoodStillMs / 60_000)} minutes while ${stage}: something that the ingestion needs was unavailable for too long; submit the document again`,
  );
}

/** Maps an error to a Temporal failure. One that no further attempt mends ends the document; all others are retried. */
function toApplicationFailure(error: unknown): unknown {
  if (error instanceof SlowDocumentError || error instanceof NoTimeForPagesError)
    return ApplicationFailure.nonRetryable(error.message, failureTypes.slow);
  if (error instanceof DocumentGoneError) return ApplicationFailure.nonRetryable(error.message, failureTypes.gone);
  if (error instanceof IngestionError) return ApplicationFailure.nonRetryable(error.message, failureTypes.document, error.code);
  // The embedder has made its own attempts by now.
  if (error instanceof EmbeddingError) return ApplicationFailure.nonRetryable(error.message, failureTypes.document, 'embedding_failed');
  return error;
}
