/** What travels through the histories of knowledge workflows: ids and counts, never a text. */
import type { DocumentJob } from '../../knowledge/jobs/names.ts';

/** How an ingestion ended. `gone`: the document was deleted meanwhile. */
export type IngestionOutcome = 'completed' | 'failed' | 'gone';

/** Types of failures that the workflow distinguishes. */
export const failureTypes = { document: 'IngestionFailure', gone: 'DocumentGone', slow: 'SlowDocument' } as const;

/**
 * How one pass over a small document ended. `staged`: it takes stages by its kind. `large`: it has turned out to take long. Of both nothing was
 * written.
 */
export type OnePassResult =
  | { readonly outcome: 'completed'; readonly replaced: readonly string[] }
  | { readonly outcome: 'failed' | 'gone' | 'large' }
  | { readonly outcome: 'staged'; readonly kind: 'file' | 'website' | 'text' };

export interface IngestionActivities {
  /** All stages of a small document at once, its end included. Local: it runs within the workflow's task. */
  ingestInOnePass(job: DocumentJob): Promise<OnePassResult>;
  /** @returns what kind of content it is, or undefined when there is nothing (left) to do */
  beginIngestion(job: DocumentJob): Promise<'file' | 'website' | 'text' | undefined>;
  /** Reads a website's addresses into the storage, with an outcome each. */
  fetchPages(job: DocumentJob): Promise<void>;
  /**
   * Reads the stored content and cuts it into chunks, in Postgres. What takes longer than `withinMs` fails as `slow`, and is to be done
   * again from the start where there is time for it.
   */
  parseDocument(job: DocumentJob, limit?: { readonly withinMs: number }): Promise<void>;
  /** Embeds the chunks and puts them into the vector store, batch by batch. */
  indexDocument(job: DocumentJob): Promise<void>;
  /** Asks the store for the chunks the way a search does. */
  verifyDocument(job: DocumentJob): Promise<void>;
  /** @returns the documents that it took the place of, which are to be cleared away */
  completeDocument(job: DocumentJob): Promise<readonly string[]>;
  failDocument(job: DocumentJob, failure: { readonly code: string; readonly message: string }): Promise<void>;
}

export interface ReindexActivities {
  reindexDocument(job: DocumentJob): Promise<void>;
}
