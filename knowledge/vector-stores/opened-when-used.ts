import type { VectorStore } from './vector-store.ts';

/** A store whose code is loaded by the first one who uses it: the client of Milvus is a fifth of what each process of a call would load. */
export function storeOpenedWhenUsed(name: VectorStore['name'], open: () => Promise<VectorStore>): VectorStore {
  let opened: Promise<VectorStore> | undefined;
  const store = (): Promise<VectorStore> => (opened ??= open());
  return {
    name,
    upsert: async (...of) => (await store()).upsert(...of),
    search: async (...of) => (await store()).search(...of),
    count: async (...of) => (await store()).count(...of),
    deleteDocument: async (...of) => (await store()).deleteDocument(...of),
    deleteCollection: async (...of) => (await store()).deleteCollection(...of),
    documentIds: async (...of) => (await store()).documentIds(...of),
    health: async () => (await store()).health(),
    close: async () => (await opened)?.close(),
  };
}
