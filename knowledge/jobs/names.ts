/** Names of the knowledge workflows and their task queues, for those who start them and those who run them. */

export interface TaskQueues {
  /** Small files have workers of their own: they don't wait behind big ones. */
  readonly small: string;
  /** The queue for fetching pages, which is mostly waiting: no computation waits behind a slow site. */
  readonly websites: string;
  readonly bulk: string;
}

/** @param prefix the installation's task queue, `parley` by default */
export function ingestionQueues(prefix: string): TaskQueues {
  return { small: `${prefix}-ingestion-small`, websites: `${prefix}-ingestion-websites`, bulk: `${prefix}-ingestion` };
}

/** Returns the queues on which an ingestion continues that began on the queue for small files. @returns undefined for any other queue */
export function queuesNextTo(queue: string): TaskQueues | undefined {
  const suffix = '-ingestion-small';
  return queue.endsWith(suffix) ? ingestionQueues(queue.slice(0, -suffix.length)) : undefined;
}

/**
 * Tells whether an ingestion begins on the queue for small files. That of a website does, because nothing is known about it yet: one that
 * turns out to be long moves on from there.
 */
export function beginsSmall({ bytes }: { readonly bytes?: number | null | undefined }): boolean {
  return (bytes ?? 0) <= SMALL_FILE_BYTES;
}

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

/** Name of the query that asks a running reindexing for the number of documents that it has been through. */
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
