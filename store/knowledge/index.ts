import type { Database } from '../database.ts';
import { Collections } from './collections.ts';
import { Documents } from './documents.ts';
import { EmbeddingCacheRows } from './embedding-cache.ts';
import { Ingestion } from './ingestion.ts';
import { Lookup } from './lookup.ts';

/** Everything of knowledge bases that lives in Postgres, but the vectors. */
export interface KnowledgeStore {
  readonly collections: Collections;
  readonly documents: Documents;
  readonly ingestion: Ingestion;
  readonly lookup: Lookup;
  readonly embeddingCache: EmbeddingCacheRows;
}

export function createKnowledgeStore(database: Database): KnowledgeStore {
  return {
    collections: new Collections(database),
    documents: new Documents(database),
    ingestion: new Ingestion(database),
    lookup: new Lookup(database),
    embeddingCache: new EmbeddingCacheRows(database),
  };
}
