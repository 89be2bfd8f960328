/** Starting the long work of knowledge bases in Temporal. Every start is idempotent: what runs already is left running. */
import { lazily } from '../../platform/lazily.ts';
import type { Logger } from '../../platform/logging.ts';
import type { Temporal } from '../../platform/temporal/access.ts';
import type { CollectionJob, DocumentJob } from './names.ts';

/** Temporal doesn't answer. Whoever sweeps up starts the work later: nothing is lost. */
export class JobsUnavailable extends Error {
  override readonly name = 'JobsUnavailable';
}

export interface KnowledgeJobs {
  /** @param job - `small`: see {@link beginsSmall} */
  ingest(job: DocumentJob & { readonly small: boolean }): Promise<void>;
  /** Stops the ingestion, if it runs, and takes away what a deleted document left behind. */
  clearDocument(job: DocumentJob): Promise<void>;
  clearCollection(job: CollectionJob): Promise<void>;
  /** Builds the vectors anew from the stored chunks. */
  reindex(job: CollectionJob): Promise<void>;
  /** Resolves when the last one that was begun has ended. @throws WorkflowFailedError */
  reindexed(job: CollectionJob): Promise<void>;
  close(): Promise<void>;
}

export interface KnowledgeJobsOptions extends Temporal {
  readonly logger: Logger;
  /** Longest wait for Temporal, in milliseconds; 3,000 by default. */
  readonly timeoutMs?: number;
  /** The installation's task queue, as the worker has it. */
  readonly taskQueue: string;
}

/** Temporal's client is large, and most processes start no job in their first second: it is loaded for the first one. */
export function createKnowledgeJobs(options: KnowledgeJobsOptions): KnowledgeJobs {
  const jobs = lazily(async () => (await import('./temporal-jobs.ts')).createTemporalJobs(options));
  return {
    ingest: async (job) => (await jobs.get()).ingest(job),
    clearDocument: async (job) => (await jobs.get()).clearDocument(job),
    clearCollection: async (job) => (await jobs.get()).clearCollection(job),
    reindex: async (job) => (await jobs.get()).reindex(job),
    reindexed: async (job) => (await jobs.get()).reindexed(job),
    close: () => jobs.close((opened) => opened.close()),
  };
}
