/** What the steps of an ingestion work with. */
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

/** One step on one document. */
export interface Step {
  readonly document: DocumentRecord;
  readonly collection: Collection;
  readonly signal: AbortSignal;
  /** Shows how far the step is. @throws DocumentGone when there is nobody left to show it to */
  readonly report: (done: number, total?: number) => Promise<void>;
}

/** @throws DocumentGone when either is deleted, or the document at an end */
export async function openDocument(
  { knowledge }: Pick<IngestionDependencies, 'knowledge'>,
  job: { readonly org: string; readonly documentId: string; readonly collectionId: string },
): Promise<{ readonly document: DocumentRecord; readonly collection: Collection }> {
  const [document, collection] = await Promise.all([
    knowledge.documents.get({ org: job.org, id: job.documentId }),
    knowledge.collections.get({ org: job.org, id: job.collectionId }),
  ]);
  if (document === undefined || collection === undefined || collection.deleted || document.status !== 'processing')
    throw new DocumentGone(job.documentId);
  return { document, collection };
}

/** The document or its knowledge base was deleted: whoever works on it stops, and there is nothing to tell anybody. */
export class DocumentGone extends Error {
  override readonly name = 'DocumentGone';

  constructor(documentId: string) {
    super(`document ${documentId} was deleted, or is at an end already`);
  }
}
