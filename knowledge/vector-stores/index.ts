/** Creates the vector store that the configuration names. */
import { Histogram, type Registry } from 'prom-client';

import type { Logger } from '../../platform/logging.ts';
import { type PgvectorDatabase, PgvectorStore } from './pgvector/pgvector-store.ts';
import { type VectorStore, VectorStoreError } from './vector-store.ts';
import { lazily } from '../../platform/lazily.ts';

export interface VectorStoreOptions {
  /**
   * Address of the store: `pgvector:` (also when absent), `milvus://host:port` or `milvus+tls://user:password@host:port`, with `/database`
   * behind it for another than the default one.
   */
  readonly url?: string | undefined;
  /** Database for pgvector; stays open when the store is closed. */
  readonly database: PgvectorDatabase;
  readonly logger?: Logger | undefined;
  readonly registry?: Registry | undefined;
}

/**
 * Connects when it is first used: creating a store never fails for want of a server.
 *
 * @throws VectorStoreError `refused` when the address names no kind of store
 */
export function createVectorStore(options: VectorStoreOptions): VectorStore {
  const store = openStore(options);
  return options.registry === undefined ? store : instrumentStore(store, options.registry);
}

function openStore({ url = 'pgvector:', database }: VectorStoreOptions): VectorStore {
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

/** Loads a store's code at its first use: the client of Milvus is a fifth of what each process of a call would load. */
function storeOpenedWhenUsed(name: VectorStore['name'], open: () => Promise<VectorStore>): VectorStore {
  const store = lazily(open);
  return {
    name,
    upsert: async (...of) => (await store.get()).upsert(...of),
    search: async (...of) => (await store.get()).search(...of),
    count: async (...of) => (await store.get()).count(...of),
    deleteDocument: async (...of) => (await store.get()).deleteDocument(...of),
    deleteCollection: async (...of) => (await store.get()).deleteCollection(...of),
    documentIds: async (...of) => (await store.get()).documentIds(...of),
    health: async () => (await store.get()).health(),
    close: () => store.close((opened) => opened.close()),
  };
}

/** Measures every call of a store, failed ones too. */
function instrumentStore(store: VectorStore, registry: Registry): VectorStore {
  const seconds = histogram(registry);
  const measured = async <T>(operation: string, work: () => Promise<T>): Promise<T> => {
    const end = seconds.startTimer({ store: store.name, operation });
    try {
      const result = await work();
      end({ outcome: 'ok' });
      return result;
    } catch (error) {
      end({ outcome: 'error' });
      throw error;
    }
  };
  return {
    name: store.name,
    upsert: (collection, records, signal) => measured('upsert', () => store.upsert(collection, records, signal)),
    search: (collection, query, signal) => measured('search', () => store.search(collection, query, signal)),
    count: (collection, documentId) => measured('count', () => store.count(collection, documentId)),
    deleteDocument: (collection, documentId) => measured('delete_document', () => store.deleteDocument(collection, documentId)),
    deleteCollection: (collection) => measured('delete_collection', () => store.deleteCollection(collection)),
    documentIds: (collection, page) => measured('document_ids', () => store.documentIds(collection, page)),
    health: () => measured('health', () => store.health()),
    close: () => store.close(),
  };
}

const NAME = 'parley_vector_store_seconds';

function histogram(registry: Registry): Histogram<'store' | 'operation' | 'outcome'> {
  const registered = registry.getSingleMetric(NAME);
  if (registered instanceof Histogram) return registered;
  const made = new Histogram({
    name: NAME,
    help: 'Time of a call to the vector store, in seconds.',
    labelNames: ['store', 'operation', 'outcome'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [],
  });
  registry.registerMetric(made);
  return made;
}
