/** Opens what a search in knowledge bases needs by the configuration, the same for every role and for the processes of calls. */
import type { Registry } from 'prom-client';

import type { Config } from '../platform/config/config.ts';
import { egressOf } from '../platform/egress/egress-of.ts';
import { INSTALLATION } from '../platform/egress/egress.ts';
import type { Logger } from '../platform/logging.ts';
import type { Store } from '../store/index.ts';
import { createEmbedders } from './embedding/create-embedders.ts';
import { createReranking } from './reranking/create-reranking.ts';
import { createSearch, type SearchDependencies } from './search/create-search.ts';
import type { Search } from './search/search.ts';
import { createVectorStore } from './vector-stores/index.ts';

export interface OpenSearchOptions {
  readonly config: Pick<Config, 'PARLEY_EMBEDDING_PROFILES' | 'PARLEY_RERANK_PROFILES' | 'VECTOR_STORE_URL'> &
    Parameters<typeof egressOf>[0];
  /** The store, which stays open. */
  readonly store: Pick<Store, 'knowledge' | 'database'>;
  readonly logger: Logger;
  readonly registry: Registry;
}

export interface OpenedSearch extends Pick<SearchDependencies, 'embedderOf' | 'vectors'> {
  readonly search: Search;
  close(): Promise<void>;
}

/** Connects to nothing before it is used. @throws VectorStoreError for an address that can't be read */
export function openSearch({ config, store, logger, registry }: OpenSearchOptions): OpenedSearch {
  const { knowledge, database } = store;
  const { embeddingCache } = knowledge;
  const vectors = createVectorStore({ url: config.VECTOR_STORE_URL, database, logger, registry });
  const embedders = createEmbedders({
    profiles: config.PARLEY_EMBEDDING_PROFILES,
    env: process.env,
    registry,
    cacheOf: (org) => ({ get: (keys) => embeddingCache.get(org, keys), put: (entries) => embeddingCache.put(org, entries) }),
  });
  const embedderOf: OpenedSearch['embedderOf'] = (collection) => embedders.embedderOf(collection);
  const egress = egressOf(config, { logger });
  const reranking = createReranking({
    profiles: config.PARLEY_RERANK_PROFILES,
    egress: egress.for(INSTALLATION),
    env: process.env,
    logger,
    registry,
  });
  return {
    vectors,
    embedderOf,
    search: createSearch({ knowledge, vectors, embedderOf, reranking }),
    close: () => closeAll(embedders, vectors, egress),
  };
}

/** Closes all of them at the same time, even if some fail. @throws the first failure, once all have ended */
export async function closeAll(...opened: readonly { close(): Promise<void> | void }[]): Promise<void> {
  const ended = await Promise.allSettled(opened.map(async (one) => one.close()));
  for (const end of ended) if (end.status === 'rejected') throw end.reason;
}
