/** Stores vectors in Milvus, for collections for which Postgres is too small. */
import { ConsistencyLevelEnum, MilvusClient, type RowData } from '@zilliz/milvus2-sdk-node';

import { awakeClock, withTimeout } from '../../../platform/clock.ts';
import { checkCollection, checkDocumentId, checkQuery, checkRecord } from '../check-arguments.ts';
import { denseUnits, PASSAGE_UNIT, passageUnits, queryUnits } from '../exact-weights.ts';
import { byRank, candidatesFor, fuseRankings } from '../fuse-rankings.ts';
import {
  type CollectionRef,
  type VectorHit,
  type VectorQuery,
  type VectorRecord,
  type VectorSpace,
  type VectorStore,
  VectorStoreError,
} from '../vector-store.ts';
import { expressionOf, literal, collectionScope, tagOf } from './expression.ts';
import { collectionName, collectionSchema, indexesOf, isLost, metric, type MilvusStatus, requireSuccess, toMilvusError } from './schema.ts';
import { present } from '../../../platform/present.ts';

export interface MilvusOptions {
  /** Address as host:port. */
  readonly address: string;
  readonly tls?: boolean | undefined;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly databaseName?: string | undefined;
}

/** Longest search or other query. */
const QUESTION_TIMEOUT_MS = 10_000;
/** Longest write or deletion. */
const WRITE_TIMEOUT_MS = 60_000;
/** Bounds of one request; Milvus takes 64 MB, and a small one is done before its deadline. */
const ROWS_AT_ONCE = 500;
const BYTES_AT_ONCE = 4 * 1024 * 1024;
/** Most hits that Milvus gives for one search. */
const DEEPEST = 16_384;
/** Separator that sorts below every character of an id. */
const SEPARATOR = '!';
/** Passages without words need an entry all the same; no term has this index. */
const wordless = { 0: 1 };

export class MilvusStore implements VectorStore {
  readonly name = 'milvus';
  readonly #options: MilvusOptions;
  readonly #ready = new Map<string, Promise<void>>();
  #client: MilvusClient | undefined;

  constructor(options: MilvusOptions) {
    this.#options = options;
  }

  async upsert(collection: CollectionRef, records: readonly VectorRecord[], signal?: AbortSignal): Promise<void> {
    checkCollection(collection);
    const { dimension } = collection.space;
    for (const record of records) checkRecord(record, dimension);
    const scope = collectionScope(collection);
    // Duplicate ids in one call: the last record wins.
    const rows = [...new Map(records.map((record) => [record.chunkId, record])).values()].map((record) => toRow(record, scope, dimension));
    for (const slice of slices(rows)) {
      signal?.throwIfAborted();
      await this.#mutate(collection, 'write vectors', (client, name) =>
        client.upsert({ collection_name: name, data: slice.map(({ row }) => row), timeout: WRITE_TIMEOUT_MS }),
      );
    }
  }

  async search(collection: CollectionRef, query: VectorQuery, signal?: AbortSignal): Promise<readonly VectorHit[]> {
    checkCollection(collection);
    checkQuery(query, collection.space.dimension);
    signal?.throwIfAborted();
    const hybrid = query.dense !== undefined;
    const limit = hybrid ? candidatesFor(query.topK) : query.topK;
    const [words, near] = await Promise.all([
      this.#rankWords(collection, query, limit),
      query.dense === undefined
        ? []
        : this.#rank(collection, query, 'dense', [...denseUnits(query.dense, collection.space.dimension)], 1, limit),
    ]);
    return hybrid ? fuseRankings([near, words], query.topK) : words;
  }

  async count(collection: CollectionRef, documentId?: string): Promise<number> {
    checkCollection(collection);
    if (documentId !== undefined) checkDocumentId(documentId);
    const [row] = await this.#query(collection, {
      filter: expressionOf(collection, documentId === undefined ? {} : { document: documentId }),
      output_fields: ['count(*)'],
    });
    return Number(row?.['count(*)'] ?? 0);
  }

  async deleteDocument(collection: CollectionRef, documentId: string): Promise<void> {
    checkCollection(collection);
    checkDocumentId(documentId);
    await this.#delete(collection, expressionOf(collection, { document: documentId }));
  }

  async deleteCollection(collection: CollectionRef): Promise<void> {
    checkCollection(collection);
    await this.#delete(collection, expressionOf(collection));
  }

  async documentIds(
    collection: CollectionRef,
    page: { readonly after?: string | undefined; readonly limit: number },
  ): Promise<readonly string[]> {
    checkCollection(collection);
    const found: string[] = [];
    for (let after = page.after ?? ''; found.length < page.limit;) {
      const rows = await this.#query(collection, {
        filter: `${expressionOf(collection)} and document_id > ${literal(after)}`,
        output_fields: ['document_id'],
        limit: 1_000,
        // Only an iterator's pages are sorted by primary key.
        params: { iterator: 'True' },
      });
      const ids = [...new Set(rows.map((row) => String(row['document_id'])))];
      const last = ids.at(-1);
      if (last === undefined) break;
      found.push(...ids);
      after = last;
    }
    return found.slice(0, page.limit);
  }

  async health(): Promise<void> {
    const health = await this.#call('answer', QUESTION_TIMEOUT_MS, async (client) => {
      const { isHealthy, reasons, ...answer } = await client.checkHealth();
      // The types keep both apart, though the answer has both.
      return { isHealthy, reasons, status: (answer as { readonly status?: MilvusStatus }).status ?? {} };
    });
    if (!health.isHealthy) throw new VectorStoreError('unavailable', `Milvus is not healthy: ${health.reasons.join(', ')}`);
  }

  async close(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    this.#ready.clear();
    await client?.closeConnection();
  }

  async #rankWords(collection: CollectionRef, query: VectorQuery, limit: number): Promise<readonly VectorHit[]> {
    const { indices, units, step } = queryUnits(query.sparse);
    if (indices.length === 0) return [];
    const vector = Object.fromEntries(indices.map((index, position) => [index, units[position] ?? 0]));
    return this.#rank(collection, query, 'words', vector, step / PASSAGE_UNIT, limit);
  }

  /**
   * Returns the best `limit` hits. It also asks for all that score as much as the last of them, so that tie breakers decide between those.
   */
  async #rank(
    collection: CollectionRef,
    query: VectorQuery,
    field: 'words' | 'dense',
    vector: Record<number, number> | number[],
    unit: number,
    limit: number,
  ): Promise<readonly VectorHit[]> {
    const scope = collectionScope(collection);
    for (let asked = limit + 64; ; asked *= 4) {
      const depth = Math.min(asked, DEEPEST);
      const { results } = await this.#ask(collection, 'search', (client, name) =>
        client.search({
          collection_name: name,
          anns_field: field,
          data: [vector],
          filter: expressionOf(collection, query),
          limit: depth,
          metric_type: metric,
          output_fields: ['scope', 'chunk_id', 'document_id', 'ordinal'],
          consistency_level: ConsistencyLevelEnum.Strong,
          timeout: QUESTION_TIMEOUT_MS,
        }),
      );
      const last = results.at(-1)?.score ?? 0;
      if (results.length === depth && depth < DEEPEST && results[limit - 1]?.score === last) continue;
      return results
        .flatMap((row) => {
          // The expression guarantees both; this checks once more what a tenant may see.
          if (row['scope'] !== scope || (field === 'words' && row.score <= 0)) return [];
          // Chunks that an older version wrote have no tie breaker.
          const [chunkId = '', tieBreaker = '0'] = String(row['chunk_id']).split(SEPARATOR);
          const hit: VectorHit = {
            chunkId,
            tieBreaker: Number(tieBreaker),
            documentId: String(row['document_id']),
            ordinal: Number(row['ordinal']),
            score: row.score * unit,
          };
          return [hit];
        })
        .toSorted(byRank)
        .slice(0, limit);
    }
  }

  async #query(
    collection: CollectionRef,
    request: { filter: string; output_fields: string[]; limit?: number; params?: Record<string, string> },
  ): Promise<readonly Record<string, unknown>[]> {
    const { data } = await this.#ask(collection, 'answer a query', (client, name) =>
      client.query({
        ...request,
        collection_name: name,
        consistency_level: ConsistencyLevelEnum.Strong,
        timeout: QUESTION_TIMEOUT_MS,
      }),
    );
    return data;
  }

  async #delete(collection: CollectionRef, filter: string): Promise<void> {
    await this.#mutate(collection, 'delete vectors', (client, name) =>
      client.deleteEntities({ collection_name: name, filter, consistency_level: 'Strong', timeout: WRITE_TIMEOUT_MS }),
    );
  }

  #ask<T extends { readonly status: MilvusStatus }>(
    collection: CollectionRef,
    operation: string,
    work: (client: MilvusClient, name: string) => Promise<T>,
  ): Promise<T> {
    return this.#inSpace(collection.space, operation, QUESTION_TIMEOUT_MS, work);
  }

  #mutate<T extends { readonly status: MilvusStatus }>(
    collection: CollectionRef,
    operation: string,
    work: (client: MilvusClient, name: string) => Promise<T>,
  ): Promise<T> {
    return this.#inSpace(collection.space, operation, WRITE_TIMEOUT_MS, work);
  }

  async #inSpace<T extends { readonly status: MilvusStatus }>(
    space: VectorSpace,
    operation: string,
    timeoutMs: number,
    work: (client: MilvusClient, name: string) => Promise<T>,
  ): Promise<T> {
    const name = collectionName(space);
    await this.#prepare(space, name);
    return this.#call(operation, timeoutMs, async (client) => {
      const answer = await work(client, name);
      // The next call makes or loads it again.
      if (isLost(answer.status)) this.#ready.delete(name);
      return answer;
    });
  }

  /** Makes the space's collection where it is missing, once for each process; others may be doing the same. */
  #prepare(space: VectorSpace, name: string): Promise<void> {
    const known = this.#ready.get(name);
    if (known !== undefined) return known;
    const ready = this.#make(space, name);
    this.#ready.set(name, ready);
    ready.catch(() => this.#ready.delete(name));
    return ready;
  }

  async #make(space: VectorSpace, name: string): Promise<void> {
    const exists = async (): Promise<boolean> => {
      const answer = await this.#call('look for a collection', QUESTION_TIMEOUT_MS, (client) =>
        client.hasCollection({ collection_name: name, timeout: QUESTION_TIMEOUT_MS }),
      );
      return answer.value === true;
    };
    const write = (operation: string, work: (client: MilvusClient) => Promise<MilvusStatus>): Promise<unknown> =>
      this.#call(operation, WRITE_TIMEOUT_MS, async (client) => ({ status: await work(client) }));
    const load = (): Promise<unknown> =>
      write('load a collection', (client) => client.loadCollectionSync({ collection_name: name, timeout: WRITE_TIMEOUT_MS }));

    if (await exists()) {
      const failure = await load().catch((error: unknown) => error);
      // A collection without its indexes can't be loaded: its creation was interrupted.
      if (!(failure instanceof VectorStoreError)) return;
    } else {
      try {
        await write('make a collection', (client) => client.createCollection({ ...collectionSchema(space), timeout: WRITE_TIMEOUT_MS }));
      } catch (error) {
        if (!(await exists())) throw error;
      }
    }
    for (const index of indexesOf(space)) {
      await write('make an index', (client) => client.createIndex({ ...index, timeout: WRITE_TIMEOUT_MS }));
    }
    await load();
  }

  /** Ends every call: the client's own deadlines begin only once it has a connection. */
  async #call<T extends { readonly status: MilvusStatus }>(
    operation: string,
    timeoutMs: number,
    work: (client: MilvusClient) => Promise<T>,
  ): Promise<T> {
    try {
      const answer = await withTimeout(awakeClock, timeoutMs + 500, work(this.#connected()));
      if (answer === undefined) throw new VectorStoreError('unavailable', `Milvus did not ${operation} within ${timeoutMs} ms`);
      requireSuccess(operation, answer.status);
      return answer;
    } catch (error) {
      throw toMilvusError(operation, error);
    }
  }

  #connected(): MilvusClient {
    this.#client ??= this.#connect();
    return this.#client;
  }

  #connect(): MilvusClient {
    const { address, tls, username, password, databaseName } = this.#options;
    const client = new MilvusClient({
      address,
      ssl: tls ?? false,
      ...present({ username, password, database: databaseName }),
      timeout: QUESTION_TIMEOUT_MS,
      maxRetries: 0,
      telemetry: { enabled: false },
      // The client's log lines show the requests; ours report the failures.
      logLevel: 'emerg',
      channelOptions: { 'grpc.initial_reconnect_backoff_ms': 200, 'grpc.max_reconnect_backoff_ms': 2_000 },
    });
    // The client connects by itself. An unhandled failure of that would end the process, and the client keeps it for ever.
    client.connectPromise.catch(async () => {
      if (this.#client === client) this.#client = undefined;
      await client.closeConnection().catch(() => undefined);
    });
    return client;
  }
}

interface SizedRow {
  readonly row: RowData;
  readonly bytes: number;
}

function toRow(record: VectorRecord, scope: string, dimension: number): SizedRow {
  const { indices, units } = passageUnits(record.sparse);
  const row: RowData = {
    id: [scope, record.documentId, String(record.ordinal).padStart(10, '0')].join(SEPARATOR),
    scope,
    // The tie breaker shares a field with the id, because an existing collection gets no further fields.
    chunk_id: [record.chunkId, record.tieBreaker].join(SEPARATOR),
    document_id: record.documentId,
    ordinal: record.ordinal,
    tags: Object.entries(record.metadata).map(([field, value]) => tagOf(field, value)),
    words: indices.length === 0 ? wordless : Object.fromEntries(indices.map((index, position) => [index, units[position] ?? 0])),
  };
  if (record.dense !== undefined) row['dense'] = [...denseUnits(record.dense, dimension)];
  return { row, bytes: 1_024 + 8 * indices.length + 4 * dimension + 48 * Object.keys(record.metadata).length };
}

function* slices(rows: readonly SizedRow[]): Generator<readonly SizedRow[]> {
  let slice: SizedRow[] = [];
  let bytes = 0;
  for (const row of rows) {
    if (slice.length === ROWS_AT_ONCE || (slice.length > 0 && bytes + row.bytes > BYTES_AT_ONCE)) {
      yield slice;
      slice = [];
      bytes = 0;
    }
    slice.push(row);
    bytes += row.bytes;
  }
  if (slice.length > 0) yield slice;
}
