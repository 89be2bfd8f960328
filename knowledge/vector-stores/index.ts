/** The vector store that the configuration names. */
import type { Registry } from 'prom-client';

import type { Logger } from '../../platform/logging.ts';
import { instrumentStore } from './instrumented-store.ts';
import { storeOpenedWhenUsed } from './opened-when-used.ts';
import { PgvectorStore, type PgvectorDatabase } from './pgvector/pgvector-store.ts';
import { VectorStoreError } from './vector-store-error.ts';
import type { VectorStore } from './vector-store.ts';

export interface VectorStoreOptions {
  /** `pgvector:` (also when absent), `milvus://host:port` or `milvus+tls://user:password@host:port`, with `/database` behind it for another than the default one. */
  readonly url?: string | undefined;
  /** For pgvector; stays open when the store is closed. */
  readonly database: PgvectorDatabase;
  readonly logger?: Logger | undefined;
  readonly registry?: Registry | undefined;
}

/**
 * Connects when it is first used: making one never fails for want of a server.
 *
 * @throws VectorStoreError `refused` when the address names no store that there is
 */
export function createVectorStore(options: VectorStoreOptions): VectorStore {
  const store = open(options);
  return options.registry === undefined ? store : instrumentStore(store, options.registry);
}

function open({ url = 'pgvector:', database }: VectorStoreOptions): VectorStore {
  if (url === 'pgvector:') return new PgvectorStore(database);
  const address = URL.canParse(url) ? new URL(url) : undefined;
  if (address === undefined || !(address.protocol in schemes) || address.hostname === '') {
    // The address may hold a password, and is not repeated.
    throw new VectorStoreError('refused', 'VECTOR_STORE_URL is `pgvector:`, milvus://host:port or milvus+tls://user:password@host:port');
  }
  const databaseName = decodeURIComponent(address.pathname.slice(1));
  const milvus = {
    address: `${address.hostname}:${address.port === '' ? 19530 : address.port}`,
    tls: address.protocol === 'milvus+tls:',
    ...(address.username === '' ? {} : { username: decodeURIComponent(address.username), password: decodeURIComponent(address.password) }),
    ...(databaseName === '' ? {} : { databaseName }),
  };
  return storeOpenedWhenUsed('milvus', async () => new (await import('./milvus/milvus-store.ts')).MilvusStore(milvus));
}

const schemes = { 'milvus:': true, 'milvus+tls:': true };
