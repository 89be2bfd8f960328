/** What the knowledge workflows are called and where they run: said once, for those who start them and those who run them. */

export interface TaskQueues {
  /** Small files have workers of their own: they don't wait behind big ones. */
  readonly small: string;
  readonly bulk: string;
}

/** @param prefix the installation's task queue, `parley` by default */
export function ingestionQueues(prefix: string): TaskQueues {
  return { small: `${prefix}-ingestion-small`, bulk: `${prefix}-ingestion` };
}

/** Where work goes on that began on the queue for small files and turned out to be long. @returns undefined for any other queue */
export function queueForLongWork(queue: string): string | undefined {
  return queue.endsWith('-ingestion-small') ? queue.slice(0, -'-small'.length) : undefined;
}

/** A file of at most this many bytes is small. */
export const SMALL_FILE_BYTES = 512 * 1024;

/**
 * Reading a small file takes a second. One that takes longer than this, in milliseconds, is an archive that unfolds or is meant to keep the
 * parser busy: it goes on among the big ones, so that nobody's small files wait behind it.
 */
export const SMALL_FILE_MS = 4_000;

export const workflowIds = {
  ingestion: (documentId: string) => `ingest/${documentId}`,
  clearDocument: (documentId: string) => `clear-document/${documentId}`,
  clearCollection: (collectionId: string) => `clear-collection/${collectionId}`,
  reindex: (collectionId: string) => `reindex/${collectionId}`,
} as const;

/** Keyword search attributes of the knowledge workflows. */
export const searchAttributes = ['ParleyOrganization', 'ParleyKnowledgeBase', 'ParleyDocument'] as const;

export interface CollectionJob {
  readonly org: string;
  /** Name of the resource, for people who look for its work. */
  readonly knowledgeBase: string;
  readonly collectionId: string;
}

export interface DocumentJob extends CollectionJob {
  readonly documentId: string;
}
