/** The dense vectors of one dimension: compared one by one in small collections, through a graph (HNSW) in large ones. */
import type { Transaction } from '../../../store/database.ts';
import { byRank } from '../fuse-rankings.ts';
import type { VectorHit, VectorQuery } from '../vector-store.ts';
import type { RankOptions } from './rank-words.ts';
import { numbersOf, type Scope } from './scope.ts';

/** An index takes no more dimensions: such collections are scanned whatever their size. */
const MOST_IN_GRAPH = 4_000;
/** Vectors that move into the graph with each write of a collection that has just become large. */
const MOVED_AT_ONCE = 250;

export interface DenseTableOptions {
  readonly dimension: number;
  /** The schema that pgvector was installed in: not necessarily on the search path. */
  readonly home: string;
  /** From this many chunks on a collection gets a graph of its own. */
  readonly graphFrom: number;
}

/** Where the vectors of a large collection are, or are on their way to. */
type Graph = string | null;

interface HitRow {
  readonly chunk_id: string;
  readonly document_id: string;
  readonly ordinal: number;
  readonly tie_breaker: number;
  readonly score: number;
}

export class DenseTable {
  readonly #dimension: number;
  readonly #home: string;
  readonly #type: string;
  readonly #flat: string;
  readonly #graphFrom: number;

  constructor({ dimension, home, graphFrom }: DenseTableOptions) {
    this.#dimension = dimension;
    this.#home = `"${home.replaceAll('"', '""')}"`;
    this.#type = `${this.#home}.${dimension > 2_000 ? 'halfvec' : 'vector'}`;
    this.#flat = `parley.vector_dense_${dimension}`;
    this.#graphFrom = graphFrom;
  }

  async add(
    transaction: Transaction,
    { org, collectionId }: Scope,
    vectors: readonly { readonly number: number; readonly units: Float32Array }[],
    graph: Graph,
  ): Promise<void> {
    await transaction.query(
      `INSERT INTO ${graph === null ? this.#flat : tableOf(graph)} (org, collection_id, number, embedding)
       SELECT $1, $2, given.number, given.embedding::${this.#type} FROM unnest($3::int[], $4::text[]) AS given (number, embedding)`,
      [org, collectionId, vectors.map(({ number }) => number), vectors.map(({ units }) => literal(units))],
    );
  }

  async remove(transaction: Transaction, { org, collectionId }: Scope, numbers: readonly number[]): Promise<void> {
    const graph = await graphOf(transaction, { org, collectionId });
    for (const table of graph === null ? [this.#flat] : [this.#flat, tableOf(graph)]) {
      await transaction.query(`DELETE FROM ${table} WHERE org = $1 AND collection_id = $2 AND number = ANY($3::int[])`, [
        org,
        collectionId,
        numbers,
      ]);
    }
  }

  /**
   * Gives a collection its graph when it has become large, and moves some vectors into it. The caller holds the collection.
   *
   * @param numbers given out so far: no fewer than there are chunks, which spares most counts
   */
  async grow(transaction: Transaction, { org, collectionId }: Scope, numbers: number, graph: Graph): Promise<Graph> {
    if (this.#dimension > MOST_IN_GRAPH || (graph === null && numbers < this.#graphFrom)) return graph;
    if (graph === null) {
      const { rows } = await transaction.query<{ large: boolean }>(
        'SELECT count(*) >= $3 AS large FROM parley.vector_chunks WHERE org = $1 AND collection_id = $2',
        [org, collectionId, this.#graphFrom],
      );
      if (rows[0]?.large !== true) return null;
      const { rows: made } = await transaction.query<{ graph: string }>(
        `UPDATE parley.vector_collections SET graph = parley.make_vector_graph($2, $3) WHERE org = $1 AND collection_id = $2 RETURNING graph`,
        [org, collectionId, this.#dimension],
      );
      return made[0]?.graph ?? null;
    }
    await transaction.query(
      `WITH moved AS (
         DELETE FROM ${this.#flat} WHERE org = $1 AND collection_id = $2 AND number = ANY(ARRAY(
           SELECT number FROM ${this.#flat} WHERE org = $1 AND collection_id = $2 ORDER BY number LIMIT ${MOVED_AT_ONCE}))
         RETURNING org, collection_id, number, embedding)
       INSERT INTO ${tableOf(graph)} SELECT * FROM moved`,
      [org, collectionId],
    );
    return graph;
  }

  /** The `limit` chunks nearest to the query's vector that meet its conditions. */
  async rank(
    transaction: Transaction,
    scope: Scope,
    units: Float32Array,
    query: VectorQuery,
    { limit, meeting: wanted }: RankOptions,
  ): Promise<readonly VectorHit[]> {
    const graph = await graphOf(transaction, scope);
    const unwanted = wanted === undefined && query.exclude?.length ? await numbersOf(transaction, scope, query.exclude) : [];
    const distance = `dense.embedding OPERATOR(${this.#home}.<#>) $3::${this.#type}`;
    const own = 'dense.org = $1 AND dense.collection_id = $2';
    const among = wanted === undefined ? 'dense.number <> ALL($5::int[])' : 'dense.number = ANY($5::int[])';
    const chosen = `${own} AND ${among}`;
    // A scan of the graph for something rare gives up; few vectors are compared one by one.
    const few = wanted !== undefined && wanted.length < this.#graphFrom;
    // Long lists are hashed only in a plan made for them; and each graph has statements of its own, of which a connection must not keep all.
    const prepared = graph === null && (few || (wanted === undefined && unwanted.length === 0));
    const hitsFrom = async (source: string): Promise<readonly VectorHit[]> => {
      const nearest = async (fetched: string, rows: number): Promise<readonly HitRow[]> => {
        const answer = await transaction.query<HitRow>(
          `SELECT chunk.chunk_id, chunk.document_id, chunk.ordinal, chunk.tie_breaker, -near.distance AS score
           FROM (${source} ${fetched}) AS near
           CROSS JOIN LATERAL (
             SELECT chunk_id, document_id, ordinal, tie_breaker::float8 AS tie_breaker FROM parley.vector_chunks
             WHERE org = $1 AND collection_id = $2 AND number = near.number OFFSET 0
           ) AS chunk`,
          [scope.org, scope.collectionId, literal(units), rows, wanted ?? unwanted],
          { prepared },
        );
        return answer.rows.toSorted((one, other) => other.score - one.score);
      };
      // One more than asked for: if it is as near as the last one, their tie breakers decide, and those of all that are as near.
      let rows = await nearest('FETCH FIRST ($4::int) ROWS ONLY', limit + 1);
      // Only then, for Postgres sorts everything that it is to return ties of, and only the best of the rest.
      if (rows.length > limit && rows[limit]?.score === rows[limit - 1]?.score)
        rows = await nearest('FETCH FIRST ($4::int) ROWS WITH TIES', limit);
      return rows
        .map((row) => ({
          chunkId: row.chunk_id,
          documentId: row.document_id,
          ordinal: row.ordinal,
          tieBreaker: row.tie_breaker,
          score: row.score,
        }))
        .toSorted(byRank)
        .slice(0, limit);
    };

    if (graph !== null && !few && (await this.#isEmpty(transaction, scope))) {
      // A plain scan of the graph ends after `ef_search` vectors, wanted or not. Sorting is what a scan of the table would need.
      await transaction.query(
        `SET LOCAL hnsw.iterative_scan = relaxed_order; SET LOCAL hnsw.ef_search = ${Math.min(1_000, Math.max(100, 2 * limit))}; SET LOCAL enable_sort = off`,
      );
      const hits = await hitsFrom(
        `SELECT dense.number, ${distance} AS distance FROM ${tableOf(graph)} AS dense WHERE ${chosen} ORDER BY ${distance}`,
      );
      await transaction.query('SET LOCAL enable_sort = on');
      // A graph with many equal vectors has parts that can't be reached from each other.
      if (hits.length === limit) return hits;
    }
    const tables = graph === null ? [this.#flat] : [this.#flat, tableOf(graph)];
    const each = (where: string): string =>
      tables.map((table) => `SELECT dense.number, ${distance} AS distance FROM ${table} AS dense WHERE ${where}`).join(' UNION ALL ');
    return hitsFrom(
      few
        ? `SELECT dense.number, dense.distance FROM unnest($5::int[]) AS wanted (number)
           CROSS JOIN LATERAL (${each(`${own} AND dense.number = wanted.number`)} OFFSET 0) AS dense ORDER BY dense.distance`
        : // A sum is nothing that an index is sorted by.
          `SELECT dense.number, dense.distance FROM (${each(chosen)}) AS dense ORDER BY dense.distance + 0`,
    );
  }

  async #isEmpty(transaction: Transaction, { org, collectionId }: Scope): Promise<boolean> {
    const { rows } = await transaction.query(
      `SELECT FROM ${this.#flat} WHERE org = $1 AND collection_id = $2 LIMIT 1`,
      [org, collectionId],
      { prepared: true },
    );
    return rows.length === 0;
  }
}

async function graphOf(transaction: Transaction, { org, collectionId }: Scope): Promise<Graph> {
  const { rows } = await transaction.query<{ graph: Graph }>(
    'SELECT graph FROM parley.vector_collections WHERE org = $1 AND collection_id = $2',
    [org, collectionId],
    { prepared: true },
  );
  return rows[0]?.graph ?? null;
}

/** Made of fixed characters: the column it comes from takes nothing else. */
function tableOf(graph: string): string {
  return `parley.${graph}`;
}

function literal(units: Float32Array): string {
  return `[${units.join(',')}]`;
}
