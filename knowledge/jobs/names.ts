/** What the knowledge workflows are called and where they run: said once, for those who start them and those who run them. */

export interface TaskQueues {
  /** Small files have workers of their own: they don't wait behind big ones. */
  readonly small: string;
  /** Where pages are fetched, which is mostly waiting: nothing that computes waits behind a site that is slow to answer. */
  readonly websites: string;
  readonly bulk: string;
}

/** @param prefix the installation's task queue, `parley` by default */
export function ingestionQueues(prefix: string): TaskQueues {
  return { small: `${prefix}-ingestion-small`, websites: `${prefix}-ingestion-websites`, bulk: `${prefix}-ingestion` };
}

/** Where the rest of an ingestion runs that began on the queue for small files. @returns undefined for any other queue */
export function queuesNextTo(queue: string): TaskQueues | undefined {
  const suffix = '-ingestion-small';
  return queue.endsWith(suffix) ? ingestionQueues(queue.slice(0, -suffix.length)) : undefined;
}

/**
 * Whether an ingestion begins on the queue for small files. So does that of a website, of which nothing is known yet: what turns out to be
 * long when it has been fetched moves on from there.
 */
export function beginsSmall({ bytes }: { readonly bytes?: number | null | undefined }): boolean {
  return (bytes ?? 0) <= SMALL_FILE_BYTES;
}

/** A file of at most this many bytes is small. */
export const SMALL_FILE_BYTES = 512 * 1024;

/**
 * Reading a small file takes a second. One that takes longer than this, in milliseconds, is an archive that unfolds or is meant to keep the
 * parser busy: it continues among the big ones, so that small files don't wait behind it.
 */
export const SMALL_FILE_MS = 4_000;

export const workflowIds = {
  ingestion: (documentId: string) => `ingest/${documentId}`,
  clearDocument: (documentId: string) => `clear-document/${documentId}`,
  clearCollection: (collectionId: string) => `clear-collection/${collectionId}`,
  reindex: (collectionId: string) => `reindex/${collectionId}`,
} as const;

/** What a running reindexing answers with the number of documents that it has been through. */
export const REINDEXED_DOCUMENTS = 'reindexedDocuments';

/** Keyword search attributes of the knowledge workflows. */
export const SEARCH_ATTRIBUTES = ['ParleyOrganization', 'ParleyKnowledgeBase', 'ParleyDocument'] as const;

export interface CollectionJob {
  readonly org: string;
  /** Name of the resource, for people who look for its work. */
  readonly knowledgeBase: string;
  readonly collectionId: string;
}

export interface DocumentJob extends CollectionJob {
  readonly documentId: string;
}
