/** The stores and services of knowledge bases, as the configuration names them: the same for every role. */
import type { Registry } from 'prom-client';

import { systemClock } from '../platform/clock.ts';
import type { Config } from '../platform/config.ts';
import type { Logger } from '../platform/logging.ts';
import type { Store } from '../store/index.ts';
import { createEmbedders } from './embedding/create-embedders.ts';
import type { IngestionDependencies } from './ingestion/dependencies.ts';
import { createKnowledgeJobs, type KnowledgeJobs } from './jobs/jobs.ts';
import { createSearch } from './search/create-search.ts';
import type { Search } from './search/search.ts';
import { openFileStorage } from './storage/open-file-storage.ts';
import { createVectorStore } from './vector-stores/index.ts';

export interface Knowledge extends IngestionDependencies {
  readonly search: Search;
  readonly jobs: KnowledgeJobs;
  close(): Promise<void>;
}

export interface OpenKnowledgeOptions {
  readonly config: Config;
  readonly store: Pick<Store, 'knowledge' | 'database'>;
  readonly logger: Logger;
  readonly registry: Registry;
}

/** Connects to nothing before it is used. @throws RangeError, VectorStoreError for addresses that can't be read */
export function openKnowledge({ config, store, logger, registry }: OpenKnowledgeOptions): Knowledge {
  const storage = openFileStorage({ url: config.STORAGE_URL });
  const vectors = createVectorStore({ url: config.VECTOR_STORE_URL, database: store.database, logger, registry });
  const jobs = createKnowledgeJobs({
    address: config.TEMPORAL_ADDRESS,
    namespace: config.TEMPORAL_NAMESPACE,
    taskQueue: config.TEMPORAL_TASK_QUEUE,
    logger,
  });
  const { embeddingCache } = store.knowledge;
  const embedders = createEmbedders({
    profiles: config.PARLEY_EMBEDDING_PROFILES,
    env: process.env,
    registry,
    cacheOf: (org) => ({ get: (keys) => embeddingCache.get(org, keys), put: (entries) => embeddingCache.put(org, entries) }),
  });
  const embedderOf: Knowledge['embedderOf'] = (collection) => embedders.embedderOf(collection);
  return {
    knowledge: store.knowledge,
    vectors,
    storage,
    embedderOf,
    clock: systemClock,
    logger,
    search: createSearch({ knowledge: store.knowledge, vectors, embedderOf }),
    jobs,
    async close() {
      await jobs.close();
      await embedders.close();
      await vectors.close();
      storage.close();
    },
  };
}
