/** Runs Milvus as a real server, which needs Python: for the complete run. */
import { onTestFinished } from 'vitest';

import { createVectorStore } from '../../../knowledge/vector-stores/index.ts';
import type { VectorStore } from '../../../knowledge/vector-stores/vector-store.ts';
import { Database } from '../../../store/database.ts';
import { startMilvusLite, type MilvusLite } from '../../support/milvus-lite.ts';
import { started, type StoreUnderTest } from './vector-stores-support.ts';

export function milvus(): StoreUnderTest & { readonly process: () => MilvusLite } {
  let server: MilvusLite | undefined;
  let store: VectorStore | undefined;
  // This database is never asked anything: all that this store needs is at its own address.
  const noDatabase = new Database({ databaseUrl: 'postgres://absent@127.0.0.1:1/none' });
  const storeAt = ({ host, port }: { readonly host: string; readonly port: number }): VectorStore =>
    createVectorStore({ url: `milvus://${host}:${port}`, database: noDatabase });
  return {
    name: 'milvus',
    async start() {
      server = await startMilvusLite();
      store = storeAt(server);
    },
    async stop() {
      await store?.close();
      await server?.stop();
      await noDatabase.close();
    },
    store: () => started(store),
    process: () => started(server),
    server() {
      const { host, port } = started(server);
      return {
        host,
        port,
        storeAt(address) {
          const opened = storeAt(address);
          onTestFinished(() => opened.close());
          return opened;
        },
      };
    },
  };
}
