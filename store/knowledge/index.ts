import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import type { Listening } from '../channel-listener.ts';
import type { Database } from '../database.ts';
import { listenForChanges, type ObjectChanges } from '../object-changes.ts';
import { BulkDocuments } from './bulk-documents.ts';
import { Collections, KNOWLEDGE_CHANNEL } from './collections.ts';
import { DocumentCompletion } from './completion.ts';
import { Documents } from './documents.ts';
import { EmbeddingCacheRows } from './embedding-cache.ts';
import { Ingestion } from './ingestion.ts';
import { KnowledgeLookup } from './lookup.ts';

/** All data of knowledge bases in Postgres, except the vectors. */
export interface KnowledgeStore {
  readonly collections: Collections;
  readonly documents: Documents;
  readonly bulk: BulkDocuments;
  readonly ingestion: Ingestion;
  readonly completion: DocumentCompletion;
  readonly lookup: KnowledgeLookup;
  readonly embeddingCache: EmbeddingCacheRows;
  /**
   * Reports knowledge bases that changed, or had a document taken on, completed, failed or deleted, until it is stopped. Uses a connection
   * of its own.
   */
  listen(changes: ObjectChanges): Listening;
}

export function createKnowledgeStore(
  database: Database,
  options: { readonly clock: Clock; readonly logger?: Logger | undefined },
): KnowledgeStore {
  return {
    collections: new Collections(database),
    documents: new Documents(database),
    bulk: new BulkDocuments(database),
    ingestion: new Ingestion(database),
    completion: new DocumentCompletion(database),
    lookup: new KnowledgeLookup(database),
    embeddingCache: new EmbeddingCacheRows(database),
    listen: (changes) =>
      listenForChanges({ database, channel: KNOWLEDGE_CHANNEL, what: 'changes of knowledge bases', ...options, ...changes }),
  };
}
