import { lazily } from '../../platform/lazily.ts';
import type { VectorStore } from './vector-store.ts';

/** A store whose code is loaded by the first one who uses it: the client of Milvus is a fifth of what each process of a call would load. */
export function storeOpenedWhenUsed(name: VectorStore['name'], open: () => Promise<VectorStore>): VectorStore {
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
