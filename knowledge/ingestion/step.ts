/**
 * From an accepted document to chunks that a search finds. The workflow in workflows/ingestion/ runs these steps in order, and each may be repeated:
 *
 *   accept    api/knowledge-bases/document-service.ts stores file and row; jobs/job-starter.ts starts the workflow
 *   fetch     fetch-document-pages.ts, of websites: pages into the storage
 *   parse     read-document.ts: parsing/parser-pool.ts reads the file in a child process, as blocks
 *   chunk     read-document.ts: chunking/chunk-blocks.ts packs the blocks into chunks, kept in Postgres
 *   embed     index-document.ts: embedding/create-embedders.ts turns chunks into vectors
 *   index     index-document.ts: vector-stores/ stores them
 *   verify    verify-document.ts: a search has to find the document
 *   complete  complete-document.ts: message and event; sweep.ts repairs what a crash leaves
 */
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import type { Collection, DocumentRecord, KnowledgeStore } from '../../store/index.ts';
import type { Embedder } from '../embedding/embedder.ts';
import type { FileStorage } from '../storage/file-storage.ts';
import type { VectorStore } from '../vector-stores/vector-store.ts';

export interface IngestionDependencies {
  readonly knowledge: KnowledgeStore;
  readonly vectors: VectorStore;
  readonly storage: FileStorage;
  /** @returns undefined for a profile without dense vectors */
  readonly embedderOf: (collection: Pick<Collection, 'org' | 'profile' | 'model' | 'dimension'>) => Embedder | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface Step {
  readonly document: DocumentRecord;
  readonly collection: Collection;
  readonly signal: AbortSignal;
  /** Records the progress. @throws DocumentGoneError when the document is deleted */
  readonly report: (done: number, total?: number) => Promise<void>;
}

/** @throws DocumentGoneError when the document or its knowledge base is deleted, or the document at an end */
export async function openDocument(
  { knowledge }: Pick<IngestionDependencies, 'knowledge'>,
  job: { readonly org: string; readonly documentId: string; readonly collectionId: string },
): Promise<{ readonly document: DocumentRecord; readonly collection: Collection }> {
  const [document, collection] = await Promise.all([
    knowledge.documents.get({ org: job.org, id: job.documentId }),
    knowledge.collections.get({ org: job.org, id: job.collectionId }),
  ]);
  if (document === undefined || collection === undefined || collection.deleted || document.status !== 'processing')
    throw new DocumentGoneError(job.documentId);
  return { document, collection };
}

/** The document or its knowledge base was deleted, or the document has ended: its steps stop without an error. */
export class DocumentGoneError extends Error {
  override readonly name = 'DocumentGoneError';

  constructor(documentId: string) {
    super(`document ${documentId} was deleted, or is at an end already`);
  }
}
