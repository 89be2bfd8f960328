/** Types in the histories of knowledge workflows: ids and counts, never a text. */
import type { DocumentJob } from '../../knowledge/jobs/names.ts';

/** The outcome of an ingestion. `gone`: the document was deleted meanwhile. */
export type IngestionOutcome = 'completed' | 'failed' | 'gone';

/** Types of failures that the workflow tells apart. */
export const failureTypes = { document: 'IngestionFailure', gone: 'DocumentGone', slow: 'SlowDocument' } as const;

/**
 * How one pass over a small document ended. `staged`: its kind takes stages. `large`: it has turned out to take long. Neither of these two
 * wrote anything.
 */
export type OnePassResult =
  | { readonly outcome: 'completed'; readonly replaced: readonly string[] }
  | { readonly outcome: 'failed' | 'gone' | 'large' }
  | { readonly outcome: 'staged'; readonly kind: 'file' | 'website' | 'text' };

export interface IngestionActivities {
  /** Ingests a small document in all its stages, its end included. It is a local activity and runs within the workflow's task. */
  ingestInOnePass(job: DocumentJob): Promise<OnePassResult>;
  /** @returns the kind of content, or undefined when there is nothing (left) to do */
  beginIngestion(job: DocumentJob): Promise<'file' | 'website' | 'text' | undefined>;
  /** Reads a website's addresses into the storage, with an outcome each. */
  fetchPages(job: DocumentJob): Promise<void>;
  /**
   * Reads the stored content and cuts it into chunks, in Postgres. Work that takes longer than `withinMs` fails as `slow`, and starts over
   * where there is time for it.
   */
  parseDocument(job: DocumentJob, limit?: { readonly withinMs: number }): Promise<void>;
  /** Embeds the chunks and puts them into the vector store, batch by batch. */
  indexDocument(job: DocumentJob): Promise<void>;
  /** Searches the vector store for the chunks the way a search does. */
  verifyDocument(job: DocumentJob): Promise<void>;
  /** @returns ids of the documents that it replaced, which are to be cleared */
  completeDocument(job: DocumentJob): Promise<readonly string[]>;
  failDocument(job: DocumentJob, failure: { readonly code: string; readonly message: string }): Promise<void>;
}

export interface ReindexActivities {
  reindexDocument(job: DocumentJob): Promise<void>;
}
