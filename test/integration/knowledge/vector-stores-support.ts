/** Connects tests to a store on a real server, the one in Postgres, and makes records to put into stores. */
import { randomUUID } from 'node:crypto';

import { onTestFinished } from 'vitest';

import { createVectorStore } from '../../../knowledge/vector-stores/index.ts';
import type { CollectionRef, VectorHit, VectorRecord, VectorStore } from '../../../knowledge/vector-stores/vector-store.ts';
import { Database } from '../../../store/database.ts';
import { migratedDatabase } from '../../support/postgres.ts';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.ts';

export interface Server {
  readonly host: string;
  readonly port: number;
  /** Makes a store that reaches the server at another address, closed behind the test. */
  readonly storeAt: (address: { readonly host: string; readonly port: number }) => VectorStore;
}

export interface StoreUnderTest {
  readonly name: 'pgvector' | 'milvus';
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
  /** Returns a store that stays open for the whole suite. */
  readonly store: () => VectorStore;
  readonly server: () => Server;
}

/** @param limits limits of the store's connections, in milliseconds: short where a test takes the server away */
export function pgvector(limits = { statementTimeoutMs: 8_000, connectTimeoutMs: 2_000 }): StoreUnderTest {
  let url = '';
  const databases: Database[] = [];
  const storeAt = (databaseUrl: string): VectorStore => {
    const opened = new Database({ databaseUrl, poolSize: 4, ...limits });
    databases.push(opened);
    return createVectorStore({ database: opened });
  };
  let store: VectorStore | undefined;
  return {
    name: 'pgvector',
    async start() {
      ({ url } = await migratedDatabase());
      store = storeAt(url);
    },
    async stop() {
      await Promise.all(databases.map((opened) => opened.close()));
    },
    store: () => started(store),
    server() {
      const { hostname, port } = new URL(url);
      return {
        host: hostname,
        port: Number(port),
        storeAt(address) {
          const other = new URL(url);
          other.hostname = address.host;
          other.port = String(address.port);
          return storeAt(other.href);
        },
      };
    },
  };
}

export function started<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('it was not started');
  return value;
}

/** Puts a proxy before the store's server, which can be taken away from the returned store alone. */
export async function behindProxy(tested: StoreUnderTest): Promise<{ readonly proxy: TcpProxy; readonly store: VectorStore }> {
  const server = tested.server();
  const proxy = await startTcpProxy(server);
  onTestFinished(() => proxy.close());
  return { proxy, store: server.storeAt({ host: '127.0.0.1', port: proxy.port }) };
}

/** Returns a collection of the test's own. */
export function freshCollection(dimension = 0, org = 'acme'): CollectionRef {
  return { org, collectionId: `col_${randomUUID()}`, space: { model: dimension === 0 ? 'bm25' : 'test/model-é', dimension } };
}

export interface RecordOptions {
  readonly words?: Readonly<Record<number, number>>;
  readonly dense?: readonly number[];
  readonly metadata?: VectorRecord['metadata'];
  readonly tieBreaker?: number;
}

/** Returns the chunk `<documentId>:<ordinal>`. */
export function record(chunkId: string, { words = { 1: 1 }, dense, metadata = {}, tieBreaker = 0 }: RecordOptions = {}): VectorRecord {
  const split = chunkId.lastIndexOf(':');
  return {
    chunkId,
    documentId: chunkId.slice(0, split),
    ordinal: Number(chunkId.slice(split + 1)),
    tieBreaker,
    sparse: sparse(words),
    metadata,
    ...(dense === undefined ? {} : { dense: Float32Array.from(dense) }),
  };
}

/** Returns a sparse vector with these weights by dimension. */
export function sparse(words: Readonly<Record<number, number>>): VectorRecord['sparse'] {
  return { indices: Object.keys(words).map(Number), values: Object.values(words) };
}

export function idsOf(hits: readonly VectorHit[]): readonly string[] {
  return hits.map(({ chunkId }) => chunkId);
}
