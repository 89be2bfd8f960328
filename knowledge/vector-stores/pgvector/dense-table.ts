/** The dense vectors of one dimension: exact by scan in small collections, through a graph (HNSW) in large ones. */
import type { Transaction } from '../../../store/database.ts';
import { byRank } from '../fuse-rankings.ts';
import type { VectorHit, VectorQuery } from '../vector-store.ts';
import { numbersOf, numbersThatMeet, type Scope } from './scope.ts';

/** An index takes no more dimensions: such collections are scanned whatever their size. */
const mostInGraph = 4_000;
/** Vectors that move into the graph with each write of a collection that has just become large. */
const movedAtOnce = 250;

export class DenseTable {
  readonly #dimension: number;
  /** The schema that pgvector was installed in: not necessarily on the search path. */
  readonly #home: string;
  readonly #type: string;
  readonly #table: string;
  readonly #graphFrom: number;

  /** @param graphFrom from this many chunks on a collection's vectors go into the graph */
  constructor({ dimension, home, graphFrom }: { readonly dimension: number; readonly home: string; readonly graphFrom: number }) {
    this.#dimension = dimension;
    this.#graphFrom = graphFrom;
    this.#home = `"${home.replaceAll('"', '""')}"`;
    this.#type = `${this.#home}.${dimension > 2_000 ? 'halfvec' : 'vector'}`;
    this.#table = `parley.vector_dense_${dimension}`;
  }

  get takesGraph(): boolean {
    return this.#dimension <= mostInGraph;
  }

  async add(
    transaction: Transaction,
    { org, collectionId }: Scope,
    vectors: readonly { readonly number: number; readonly units: Float32Array }[],
    graph: boolean,
  ): Promise<void> {
    await transaction.query(
      `INSERT INTO ${this.#table} (org, collection_id, number, graph, embedding)
       SELECT $1, $2, given.number, $5, given.embedding::${this.#type} FROM unnest($3::int[], $4::text[]) AS given (number, embedding)`,
      [org, collectionId, vectors.map(({ number }) => number), vectors.map(({ units }) => literal(units)), graph && this.takesGraph],
    );
  }

  async remove(transaction: Transaction, { org, collectionId }: Scope, numbers: readonly number[]): Promise<void> {
    await transaction.query(`DELETE FROM ${this.#table} WHERE org = $1 AND collection_id = $2 AND number = ANY($3::int[])`, [
      org,
      collectionId,
      numbers,
    ]);
  }

  /** Moves some vectors of a large collection into the graph; until the last is there its searches scan. */
  async moveIntoGraph(transaction: Transaction, { org, collectionId }: Scope): Promise<void> {
    if (!this.takesGraph) return;
    await transaction.query(
      `UPDATE ${this.#table} SET graph = true WHERE org = $1 AND collection_id = $2 AND number = ANY(ARRAY(
         SELECT number FROM ${this.#table} WHERE org = $1 AND collection_id = $2 AND NOT graph ORDER BY number LIMIT ${movedAtOnce} FOR UPDATE SKIP LOCKED))`,
      [org, collectionId],
    );
  }

  /** The `limit` chunks nearest to the query's vector that meet its conditions: all there are, where the collection is scanned. */
  async rank(
    transaction: Transaction,
    { org, collectionId }: Scope,
    units: Float32Array,
    query: VectorQuery,
    limit: number,
  ): Promise<readonly VectorHit[]> {
    const scope = { org, collectionId };
    const wanted =
      query.filter === undefined && query.document === undefined ? undefined : await numbersThatMeet(transaction, scope, query);
    const unwanted = wanted === undefined && query.exclude?.length ? await numbersOf(transaction, scope, query.exclude) : [];
    // A scan of the graph for something rare gives up; few vectors are compared one by one.
    const few = wanted !== undefined && wanted.length < this.#graphFrom;
    const graph = !few && (await this.#allInGraph(transaction, scope));
    if (graph) {
      // A plain scan of the graph ends after `ef_search` vectors, of whatever collection. Sorting is what a scan of the table would need.
      await transaction.query(
        `SET LOCAL hnsw.iterative_scan = relaxed_order; SET LOCAL hnsw.ef_search = ${Math.min(1_000, Math.max(100, 2 * limit))}; SET LOCAL enable_sort = off`,
      );
    }
    const distance = `dense.embedding OPERATOR(${this.#home}.<#>) $3::${this.#type}`;
    const own = `dense.org = $1 AND dense.collection_id = $2`;
    const source = few
      ? `SELECT dense.number, dense.distance FROM unnest($5::int[]) AS wanted (number) CROSS JOIN LATERAL (
           SELECT dense.number, ${distance} AS distance FROM ${this.#table} AS dense WHERE ${own} AND dense.number = wanted.number OFFSET 0
         ) AS dense ORDER BY dense.distance`
      : `SELECT dense.number, ${distance} AS distance FROM ${this.#table} AS dense
         WHERE ${own}${graph ? ' AND dense.graph' : ''} AND ${wanted === undefined ? 'dense.number <> ALL($5::int[])' : 'dense.number = ANY($5::int[])'}
         ORDER BY ${distance}`;
    // With ties, so that which of two equal chunks is the last one is decided by their ids.
    const { rows } = await transaction.query<{ chunk_id: string; document_id: string; ordinal: number; score: number }>(
      `SELECT chunk.chunk_id, chunk.document_id, chunk.ordinal, -near.distance AS score
       FROM (${source} FETCH FIRST ($4::int) ROWS WITH TIES) AS near
       CROSS JOIN LATERAL (
         SELECT * FROM parley.vector_chunks AS chunk WHERE chunk.org = $1 AND chunk.collection_id = $2 AND chunk.number = near.number OFFSET 0
       ) AS chunk`,
      [org, collectionId, literal(units), limit, wanted ?? unwanted],
    );
    return rows
      .map((row) => ({ chunkId: row.chunk_id, documentId: row.document_id, ordinal: row.ordinal, score: row.score }))
      .toSorted(byRank)
      .slice(0, limit);
  }

  async #allInGraph(transaction: Transaction, { org, collectionId }: Scope): Promise<boolean> {
    if (!this.takesGraph) return false;
    const { rows } = await transaction.query<{ flat: boolean }>(
      `SELECT EXISTS (SELECT FROM ${this.#table} WHERE org = $1 AND collection_id = $2 AND NOT graph) AS flat`,
      [org, collectionId],
    );
    return rows[0]?.flat === false;
  }
}

function literal(units: Float32Array): string {
  return `[${units.join(',')}]`;
}
