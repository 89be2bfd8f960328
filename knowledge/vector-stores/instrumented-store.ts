import { Histogram, type Registry } from 'prom-client';

import type { VectorStore } from './vector-store.ts';

/** Measures every call of a store, failed ones too. */
export function instrumentStore(store: VectorStore, registry: Registry): VectorStore {
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

const name = 'parley_vector_store_seconds';

function histogram(registry: Registry): Histogram<'store' | 'operation' | 'outcome'> {
  const registered = registry.getSingleMetric(name);
  if (registered instanceof Histogram) return registered;
  const made = new Histogram({
    name,
    help: 'Time of a call to the vector store, in seconds.',
    labelNames: ['store', 'operation', 'outcome'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [],
  });
  registry.registerMetric(made);
  return made;
}
