/** Stores vectors in the same Postgres as everything else: words in an inverted index, dense vectors in pgvector's types. */
import type { Database, Transaction, TransactionOptions } from '../../../store/database.ts';
import { StoreError } from '../../../store/error.ts';
import { checkCollection, checkDocumentId, checkQuery, checkRecord } from '../check-arguments.ts';
import { denseUnits, passageUnits } from '../exact-weights.ts';
import { candidatesFor, fuseRankings } from '../fuse-rankings.ts';
import {
  type CollectionRef,
  type VectorHit,
  type VectorQuery,
  type VectorRecord,
  type VectorStore,
  VectorStoreError,
} from '../vector-store.ts';
import { DenseTable, type Sizes } from './dense-table.ts';
import { addPostings, blockOf, blocksOf, compactBlock, countSegment, BLOCK_SIZE, numbersThatMeet, segmentOf } from './postings.ts';
import { isLarge, rankWords } from './rank-words.ts';
import { documentIs } from './scope.ts';

/** Chunks written in one transaction: it holds up other writers of the same collection, and no others. */
const WRITTEN_AT_ONCE = 250;
/** Rows deleted in one transaction, so that none takes long. */
const DELETED_AT_ONCE = 5_000;
/** Number of deleted chunks after which the inverted index is checked. */
const COUNTED_EVERY = 64;

export type PgvectorDatabase = Pick<Database, 'asOrganization' | 'query'>;

export class PgvectorStore implements VectorStore {
  readonly name = 'pgvector';
  readonly #database: PgvectorDatabase;
  readonly #tables = new Map<number, Promise<DenseTable>>();
  readonly #sizes: Sizes;

  constructor(database: PgvectorDatabase, sizes: Partial<Sizes> = {}) {
    this.#database = database;
    this.#sizes = { graphFrom: 20_000, halvesFrom: 4_000, ...sizes };
  }

  async upsert(collection: CollectionRef, records: readonly VectorRecord[], signal?: AbortSignal): Promise<void> {
    checkCollection(collection);
    for (const record of records) checkRecord(record, collection.space.dimension);
    // Duplicate ids in one call: the last record wins.
    const distinct = [...new Map(records.map((record) => [record.chunkId, record])).values()].map((record) => ({
      record,
      sparse: passageUnits(record.sparse),
      units: record.dense && denseUnits(record.dense, collection.space.dimension),
    }));
    const dense = await this.#dense(collection);
    for (let from = 0; from < distinct.length; from += WRITTEN_AT_ONCE) {
      signal?.throwIfAborted();
      const slice = distinct.slice(from, from + WRITTEN_AT_ONCE);
      const { replaced, blockFilled } = await this.#run(collection, async (transaction) => {
        const { end, graph } = await takeNumbers(transaction, collection, slice.length);
        const gone = await deleteChunks(transaction, collection, dense, 'chunk_id = ANY($3::text[])', [
          slice.map(({ record }) => record.chunkId),
        ]);
        const numbered = slice.map(({ sparse, units }, index) => ({ number: end - slice.length + index, sparse, units }));
        const { rows: written } = await transaction.query<{ number: number; terms: readonly number[] }>(
          `INSERT INTO parley.vector_chunks (org, collection_id, number, chunk_id, document_id, ordinal, metadata, tie_breaker)
           SELECT $1, $2, given.number, given.chunk_id, given.document_id, given.ordinal, given.metadata::jsonb, given.tie_breaker
           FROM unnest($3::int[], $4::text[], $5::text[], $6::int[], $7::text[], $8::bigint[])
             AS given (number, chunk_id, document_id, ordinal, metadata, tie_breaker)
           RETURNING number, parley.filter_terms(metadata) AS terms`,
          [
            collection.org,
            collection.collectionId,
            numbered.map(({ number }) => number),
            slice.map(({ record }) => record.chunkId),
            slice.map(({ record }) => record.documentId),
            slice.map(({ record }) => record.ordinal),
            slice.map(({ record }) => JSON.stringify(record.metadata)),
            slice.map(({ record }) => record.tieBreaker),
          ],
        );
        const filterTerms = new Map(written.map(({ number, terms }) => [number, terms]));
        await addPostings(
          transaction,
          collection,
          numbered.map(({ number, sparse }) => ({ number, sparse, filterTerms: filterTerms.get(number) ?? [] })),
        );
        if (dense !== undefined) {
          const vectors = numbered.flatMap(({ number, units }) => (units === undefined ? [] : [{ number, units }]));
          await dense.add(transaction, collection, vectors, await dense.grow(transaction, collection, end, graph));
        }
        return { replaced: gone, blockFilled: blockOf(end) !== blockOf(end - slice.length) };
      });
      if (blockFilled) await this.#run(collection, (transaction) => transaction.query('SELECT parley.analyze_vectors()'));
      await this.#sweep(collection, replaced);
    }
  }

  async search(collection: CollectionRef, query: VectorQuery, signal?: AbortSignal): Promise<readonly VectorHit[]> {
    checkCollection(collection);
    checkQuery(query, collection.space.dimension);
    signal?.throwIfAborted();
    const units = query.dense && denseUnits(query.dense, collection.space.dimension);
    const dense = units && (await this.#dense(collection));
    // One snapshot covers scoring and the look-ups after it, because a chunk may be replaced in between. The values decide whether a graph
    // is worth a scan; look-ups of words don't depend on them.
    const oneMoment = { snapshot: true, quick: true, samePlans: dense === undefined };
    return this.#run(
      collection,
      async (transaction) => {
        const hybrid = units !== undefined && dense !== undefined;
        const filtered = Object.keys(query.filter ?? {}).length > 0;
        // A ranking by words looks a document's chunks up itself.
        const selective = filtered || (hybrid && query.document !== undefined);
        const meeting = selective ? await numbersThatMeet(transaction, collection, query) : undefined;
        if (!hybrid) return rankWords(transaction, collection, query, { limit: query.topK, meeting });
        const limit = candidatesFor(query.topK);
        const rankings = await transaction.inParallel(
          [
            (first) => rankWords(first, collection, query, { limit, meeting }),
            (second) => dense.rank(second, collection, units, query, { limit, meeting }),
          ],
          // A few chunks are ranked sooner than another connection has begun.
          { pipelined: !isLarge(query) },
        );
        return fuseRankings(rankings, query.topK);
      },
      oneMoment,
    );
  }

  async count(collection: CollectionRef, documentId?: string): Promise<number> {
    checkCollection(collection);
    if (documentId !== undefined) checkDocumentId(documentId);
    return this.#run(collection, async (transaction) => {
      const { rows } = await transaction.query<{ chunks: number }>(
        `SELECT count(*)::int AS chunks FROM parley.vector_chunks
         WHERE org = $1 AND collection_id = $2${documentId === undefined ? '' : ` AND ${documentIs('$3')}`}`,
        [collection.org, collection.collectionId, ...(documentId === undefined ? [] : [documentId])],
      );
      return rows[0]?.chunks ?? 0;
    });
  }

  async deleteDocument(collection: CollectionRef, documentId: string): Promise<void> {
    checkCollection(collection);
    checkDocumentId(documentId);
    const dense = await this.#dense(collection);
    const gone: number[] = [];
    for (let deleted = DELETED_AT_ONCE; deleted === DELETED_AT_ONCE;) {
      const numbers = await this.#run(collection, (transaction) =>
        deleteChunks(
          transaction,
          collection,
          dense,
          `number = ANY(ARRAY(SELECT number FROM parley.vector_chunks
             WHERE org = $1 AND collection_id = $2 AND ${documentIs('$3')} LIMIT ${DELETED_AT_ONCE}))`,
          [documentId],
        ),
      );
      deleted = numbers.length;
      gone.push(...numbers);
    }
    await this.#sweep(collection, gone);
  }

  async deleteCollection(collection: CollectionRef): Promise<void> {
    checkCollection(collection);
    const dense = await this.#dense(collection);
    for (let left = true; left;) {
      for (let deleted = DELETED_AT_ONCE; deleted === DELETED_AT_ONCE;) {
        const numbers = await this.#run(collection, (transaction) =>
          deleteChunks(
            transaction,
            collection,
            dense,
            `number = ANY(ARRAY(SELECT number FROM parley.vector_chunks WHERE org = $1 AND collection_id = $2 LIMIT ${DELETED_AT_ONCE}))`,
            [],
          ),
        );
        deleted = numbers.length;
      }
      await this.#deletePostings(collection);
      left = await this.#run(collection, async (transaction) => {
        const scope = [collection.org, collection.collectionId];
        // This waits for a write that was under way: numbers may start again from 0 only where no chunk has one.
        await transaction.query('SELECT FROM parley.vector_collections WHERE org = $1 AND collection_id = $2 FOR UPDATE', scope);
        const { rows } = await transaction.query('SELECT FROM parley.vector_chunks WHERE org = $1 AND collection_id = $2 LIMIT 1', scope);
        if (rows.length > 0) return true;
        await transaction.query('DELETE FROM parley.vector_collections WHERE org = $1 AND collection_id = $2', scope);
        await transaction.query('SELECT parley.drop_vector_graph($1)', [collection.collectionId]);
        return false;
      });
    }
  }

  async documentIds(
    collection: CollectionRef,
    page: { readonly after?: string | undefined; readonly limit: number },
  ): Promise<readonly string[]> {
    checkCollection(collection);
    return this.#run(collection, async (transaction) => {
      // The index leads from each document to the next: documents have many chunks.
      const { rows } = await transaction.query<{ id: string }>(
        `WITH RECURSIVE document (id) AS (
           (SELECT document_id FROM parley.vector_chunks WHERE org = $1 AND collection_id = $2 AND document_id > $3 AND document_id <> '' ORDER BY document_id LIMIT 1)
           UNION ALL
           SELECT (SELECT chunk.document_id FROM parley.vector_chunks AS chunk
                   WHERE chunk.org = $1 AND chunk.collection_id = $2 AND chunk.document_id > document.id AND chunk.document_id <> ''
 ORDER BY chunk.document_id LIMIT 1)
           FROM document WHERE document.id IS NOT NULL
         )
         SELECT id FROM document WHERE id IS NOT NULL LIMIT $4`,
        [collection.org, collection.collectionId, page.after ?? '', page.limit],
      );
      return rows.map(({ id }) => id);
    });
  }

  async health(): Promise<void> {
    await translated(() => this.#database.query('SELECT FROM parley.vector_collections LIMIT 0'));
  }

  /** Does nothing: the caller owns the database, which stays open. */
  async close(): Promise<void> {}

  #dense({ space: { dimension } }: CollectionRef): Promise<DenseTable | undefined> {
    if (dimension === 0) return Promise.resolve(undefined);
    let table = this.#tables.get(dimension);
    if (table === undefined) {
      table = translated(async () => {
        const [row] = await this.#database.query<{ home: string }>(
          `SELECT nspname AS home FROM pg_catalog.pg_extension JOIN pg_catalog.pg_namespace ON pg_namespace.oid = extnamespace
           WHERE extname = 'vector'`,
        );
        if (row === undefined) throw new VectorStoreError('refused', 'this database lacks pgvector: run `parley migrate`');
        await this.#database.query('SELECT parley.prepare_dense_vectors($1)', [dimension]);
        return new DenseTable({ dimension, home: row.home, ...this.#sizes });
      });
      this.#tables.set(dimension, table);
      // The next call asks again.
      table.catch(() => this.#tables.delete(dimension));
    }
    return table;
  }

  /** Compacts the inverted index of deleted chunks: where a segment has more of these than live ones, by a block's worth. */
  async #sweep(collection: CollectionRef, numbers: readonly number[]): Promise<void> {
    // Counting takes as long as for 65,536 chunks, so one deletion in 64 does it.
    for (const segment of new Set(numbers.filter((number) => number % COUNTED_EVERY === 0).map(segmentOf))) {
      const count = await this.#run(collection, (transaction) => countSegment(transaction, collection, segment));
      if (count.indexed - count.live.size <= count.live.size + BLOCK_SIZE) continue;
      for (const block of blocksOf(segment, count))
        await this.#run(collection, async (transaction) =>
          compactBlock(transaction, collection, block, await countSegment(transaction, collection, segment)),
        );
    }
  }

  async #deletePostings(collection: CollectionRef): Promise<void> {
    for (let deleted = DELETED_AT_ONCE; deleted === DELETED_AT_ONCE;) {
      const { rowCount } = await this.#run(collection, (transaction) =>
        transaction.query(
          `DELETE FROM parley.vector_postings WHERE ctid = ANY(ARRAY(
             SELECT ctid FROM parley.vector_postings WHERE org = $1 AND collection_id = $2 LIMIT ${DELETED_AT_ONCE}))`,
          [collection.org, collection.collectionId],
        ),
      );
      deleted = rowCount;
    }
  }

  #run<T>(collection: CollectionRef, work: (transaction: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T> {
    return translated(() => this.#database.asOrganization(collection.org, work, options));
  }
}

/** Reserves numbers up to `end`, and locks the collection until the transaction ends. */
async function takeNumbers(
  transaction: Transaction,
  { org, collectionId }: CollectionRef,
  amount: number,
): Promise<{ readonly end: number; readonly graph: string | null }> {
  const { rows } = await transaction.query<{ end: number; graph: string | null }>(
    `INSERT INTO parley.vector_collections AS collection (org, collection_id, next_number) VALUES ($1, $2, $3)
     ON CONFLICT (org, collection_id) DO UPDATE SET next_number = collection.next_number + excluded.next_number
     RETURNING next_number AS end, graph`,
    [org, collectionId, amount],
  );
  const [row] = rows;
  if (row === undefined) throw new StoreError('internal', 'an upsert returned no row');
  return row;
}

async function deleteChunks(
  transaction: Transaction,
  { org, collectionId }: CollectionRef,
  dense: DenseTable | undefined,
  which: string,
  values: readonly unknown[],
): Promise<readonly number[]> {
  const { rows } = await transaction.query<{ number: number }>(
    `DELETE FROM parley.vector_chunks WHERE org = $1 AND collection_id = $2 AND ${which} RETURNING number`,
    [org, collectionId, ...values],
  );
  const numbers = rows.map(({ number }) => number);
  if (numbers.length > 0) await dense?.remove(transaction, { org, collectionId }, numbers);
  return numbers;
}

const kinds = { unavailable: 'unavailable', invalid: 'invalid', conflict: 'unavailable' } as const;

async function translated<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    const kind = error.kind in kinds ? kinds[error.kind as keyof typeof kinds] : 'refused';
    throw new VectorStoreError(kind, `the vectors in Postgres: ${error.message}`, { cause: error });
  }
}
