import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';

import { createVectorStore } from './index.ts';
import type { PgvectorDatabase } from './pgvector/pgvector-store.ts';

/** Fails every query. */
const database: PgvectorDatabase = {
  asOrganization: () => Promise.reject(new Error('not here')),
  query: () => Promise.reject(new Error('not here')),
};

describe('createVectorStore', () => {
  it.each([
    [undefined, 'pgvector'],
    ['pgvector:', 'pgvector'],
    ['milvus://127.0.0.1', 'milvus'],
    ['milvus://[::1]:19530/other', 'milvus'],
    ['milvus+tls://user:p%40ss@milvus.example:443', 'milvus'],
  ])('makes for %s the store %s, without connecting', async (url, name) => {
    const store = createVectorStore({ url, database });
    expect(store.name).toBe(name);
    await store.close();
  });

  it.each(['', 'milvus', 'milvus://', 'redis://user:secret@host', 'milvuss://user:secret@host'])(
    'refuses %j and shows no password',
    (url) => {
      const open = (): unknown => createVectorStore({ url, database });
      expect(open).toThrow(expect.objectContaining({ name: 'VectorStoreError', kind: 'refused' }) as Error);
      expect(open).not.toThrow(/secret/);
    },
  );

  it('measures calls by store, operation and outcome, for two stores in one registry too', async () => {
    const registry = new Registry();
    const stores = [createVectorStore({ database, registry }), createVectorStore({ database, registry })];
    for (const store of stores) await expect(store.health()).rejects.toThrow('not here');
    expect(await registry.metrics()).toContain('parley_vector_store_seconds_count{store="pgvector",operation="health",outcome="error"} 2');
  });
});
