/** Stores the dense vectors of one dimension: compared one by one in small collections, through a graph (HNSW) in large ones. */
import type { Transaction } from '../../../store/database.ts';
import { byRank } from '../fuse-rankings.ts';
import type { VectorHit, VectorQuery } from '../vector-store.ts';
import type { RankOptions } from './rank-words.ts';
import { sqlConditions, numbersOf, type Scope } from './scope.ts';

/** Most dimensions that an index takes: collections with more are scanned whatever their size. */
const MOST_IN_GRAPH = 4_000;
/** Vectors that move into the graph with each write of a collection that has just become large. */
const MOVED_AT_ONCE = 250;

export interface Sizes {
  /** Number of chunks from which on a collection gets a graph of its own, and is no longer searched by comparing all of it. */
  readonly graphFrom: number;
  /** Number of chunks that meet a filter from which on their vectors are compared in two halves at the same time. */
  readonly halvesFrom: number;
}

export interface DenseTableOptions extends Sizes {
  readonly dimension: number;
  /** The schema that pgvector was installed in: not necessarily on the search path. */
  readonly home: string;
}

/** The table that has the vectors of a large collection, or will have them; null for none. */
type Graph = string | null;

interface GraphTable {
  readonly table: string;
  /** Count of numbers given out so far: no fewer than there are chunks. */
  readonly numbers: number;
  /** True if it has all vectors of the collection. */
  readonly isWhole: boolean;
}

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
  /** Half-precision numbers hold our whole ones up to 2,048 exactly, in half the room. */
  readonly #graphType: string;
  readonly #flat: string;
  readonly #sizes: Sizes;

  constructor({ dimension, home, ...sizes }: DenseTableOptions) {
    this.#dimension = dimension;
    this.#home = `"${home.replaceAll('"', '""')}"`;
    this.#type = `${this.#home}.${dimension > 2_000 ? 'halfvec' : 'vector'}`;
    this.#graphType = `${this.#home}.halfvec`;
    this.#flat = `parley.vector_dense_${dimension}`;
    this.#sizes = sizes;
  }

  async add(
    transaction: Transaction,
    { org, collectionId }: Scope,
    vectors: readonly { readonly number: number; readonly units: Float32Array }[],
    graph: Graph,
  ): Promise<void> {
    await transaction.query(
      `INSERT INTO ${graph === null ? this.#flat : tableOf(graph)} (org, collection_id, number, embedding)
       SELECT $1, $2, given.number, given.embedding::${this.#type}(${this.#dimension}) FROM unnest($3::int[], $4::text[]) AS given (number, embedding)`,
      [org, collectionId, vectors.map(({ number }) => number), vectors.map(({ units }) => literal(units))],
    );
  }

  async remove(transaction: Transaction, { org, collectionId }: Scope, numbers: readonly number[]): Promise<void> {
    const graph = await graphOf(transaction, { org, collectionId }, this.#flat);
    for (const table of graph === undefined ? [this.#flat] : [this.#flat, graph.table]) {
      await transaction.query(`DELETE FROM ${table} WHERE org = $1 AND collection_id = $2 AND number = ANY($3::int[])`, [
        org,
        collectionId,
        numbers,
      ]);
    }
  }

  /**
   * Gives a collection its graph when it has become large, and moves some vectors into it. The caller locks the collection.
   *
   * @param numbers count of numbers given out so far: no fewer than there are chunks, which spares most counts
   */
  async grow(transaction: Transaction, { org, collectionId }: Scope, numbers: number, graph: Graph): Promise<Graph> {
    if (this.#dimension > MOST_IN_GRAPH || (graph === null && numbers < this.#sizes.graphFrom)) return graph;
    if (graph === null) {
      const { rows } = await transaction.query<{ large: boolean }>(
        'SELECT count(*) >= $3 AS large FROM parley.vector_chunks WHERE org = $1 AND collection_id = $2',
        [org, collectionId, this.#sizes.graphFrom],
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
       INSERT INTO ${tableOf(graph)} SELECT org, collection_id, number, embedding FROM moved`,
      [org, collectionId],
    );
    return graph;
  }

  /** Returns the `limit` chunks nearest to the query's vector that meet its conditions. */
  async rank(
    transaction: Transaction,
    scope: Scope,
    units: Float32Array,
    query: VectorQuery,
    { limit, meeting: wanted }: RankOptions,
  ): Promise<readonly VectorHit[]> {
    const graph = await graphOf(transaction, scope, this.#flat);
    const toHits = (rows: readonly HitRow[]): readonly VectorHit[] =>
      rows
        .map((row) => ({
          chunkId: row.chunk_id,
          documentId: row.document_id,
          ordinal: row.ordinal,
          tieBreaker: row.tie_breaker,
          score: row.score,
        }))
        .toSorted(byRank)
        .slice(0, limit);
    const distance = (type: string): string => `dense.embedding OPERATOR(${this.#home}.<#>) $3::text::${type}`;
    const own = 'dense.org = $1 AND dense.collection_id = $2';
    const unscanned = graph === undefined || graph.numbers < this.#sizes.graphFrom || !graph.isWhole;
    if (!unscanned && !isCheaperCompared({ limit, numbers: graph.numbers, meeting: wanted?.length })) {
      // A plain scan of the graph ends after `ef_search` vectors, wanted or not. Without sorting, the planner can't choose a scan of the
      // table.
      const settings = `SET LOCAL hnsw.iterative_scan = relaxed_order; SET LOCAL hnsw.ef_search = ${candidatesInGraph(limit, graph.numbers)}; SET LOCAL enable_sort = off`;
      const condition = sqlConditions(query, 5);
      const hits = toHits(
        await withTies(limit, (fetched, rows) =>
          hitsWith(
            transaction,
            settings,
            `SELECT chunk.*, -near.distance AS score FROM (
               SELECT dense.number, ${distance(this.#graphType)} AS distance FROM ${graph.table} AS dense WHERE ${own} ORDER BY ${distance(this.#graphType)}
             ) AS near CROSS JOIN LATERAL (${chunkNear(condition.sql)}) AS chunk ORDER BY near.distance ${fetched}`,
            [scope.org, scope.collectionId, literal(units), rows, ...condition.values],
          ),
        ),
      );
      await transaction.query('SET LOCAL enable_sort = on');
      // A graph with many equal vectors has parts that can't be reached from each other.
      if (hits.length === limit) return hits;
    }
    const unwanted = wanted === undefined && query.exclude?.length ? await numbersOf(transaction, scope, query.exclude) : [];
    // A few chunks are looked up in the order of their numbers, in a plan that need not know how many there are.
    const settings = wanted === undefined ? undefined : 'SET LOCAL enable_seqscan = off';
    const among = wanted === undefined ? 'dense.number <> ALL($5::int[])' : 'dense.number = ANY($5::int[])';
    // Long lists are hashed only in a plan made for them; and each graph has statements of its own, of which a connection must not keep
    // all.
    const prepared = graph === undefined && (wanted !== undefined || unwanted.length === 0);
    const tables = [
      { table: this.#flat, type: this.#type },
      ...(graph === undefined ? [] : [{ table: graph.table, type: this.#graphType }]),
    ];
    const distances = tables.map(
      ({ table, type }) => `SELECT dense.number, ${distance(type)} AS distance FROM ${table} AS dense WHERE ${own} AND ${among}`,
    );
    // No index is sorted by a sum.
    const source = `SELECT dense.number, dense.distance FROM (${distances.join(' UNION ALL ')}) AS dense ORDER BY dense.distance + 0`;
    // Chunks that meet a filter are found by its hashes, which others may share.
    const condition = wanted === undefined ? { sql: '', values: [] } : sqlConditions(query, 6);
    const nearest = (side: Transaction, numbers: readonly number[] | string): Promise<readonly HitRow[]> =>
      withTies(limit, (fetched, rows) =>
        hitsWith(
          side,
          settings,
          `SELECT chunk.*, -near.distance AS score FROM (${source} ${fetched}) AS near
           CROSS JOIN LATERAL (${chunkNear(condition.sql)}) AS chunk`,
          [scope.org, scope.collectionId, literal(units), rows, numbers, ...condition.values],
          { prepared },
        ),
      );
    if (wanted === undefined) return toHits(await nearest(transaction, unwanted));
    const parts =
      wanted.length < this.#sizes.halvesFrom ? [wanted] : [wanted.subarray(0, wanted.length / 2), wanted.subarray(wanted.length / 2)];
    const compared = parts.map((part) => (side: Transaction) => nearest(side, `{${part.join(',')}}`));
    return toHits((await transaction.inParallel(compared)).flat());
  }
}

/**
 * Tells whether comparing the vectors that a filter leaves takes fewer pages than a scan of the graph. The scan meets such a vector as
 * rarely as the filter leaves one, and reads eight pages for each: ADR 64.
 */
function isCheaperCompared({
  limit,
  numbers,
  meeting,
}: {
  readonly limit: number;
  readonly numbers: number;
  readonly meeting: number | undefined;
}): boolean {
  return meeting !== undefined && meeting * meeting < 8 * limit * numbers;
}

/** Returns how many vectors a scan of the graph keeps in view, 1,000 at most: more where there are more, for the same recall (ADR 64). */
function candidatesInGraph(limit: number, numbers: number): number {
  return Math.min(1_000, Math.max(100, 2 * limit, Math.round(numbers / 1_000)));
}

/** @param flat the table of vectors that are in no graph yet */
async function graphOf(transaction: Transaction, { org, collectionId }: Scope, flat: string): Promise<GraphTable | undefined> {
  const { rows } = await transaction.query<{ graph: string } & Omit<GraphTable, 'table'>>(
    `SELECT graph, next_number AS numbers, NOT EXISTS (SELECT FROM ${flat} WHERE org = $1 AND collection_id = $2) AS "isWhole"
     FROM parley.vector_collections WHERE org = $1 AND collection_id = $2 AND graph IS NOT NULL`,
    [org, collectionId],
    { prepared: true },
  );
  const [row] = rows;
  return row && { ...row, table: tableOf(row.graph) };
}

/** Returns hits of a statement that is sent right behind its settings, without waiting for their answer. */
async function hitsWith(
  transaction: Transaction,
  settings: string | undefined,
  ...statement: Parameters<Transaction['query']>
): Promise<readonly HitRow[]> {
  const [, { rows }] = await Promise.all([
    settings === undefined ? undefined : transaction.query(settings),
    transaction.query<HitRow & Record<string, unknown>>(...statement),
  ]);
  return rows;
}

/** Selects the fields of a hit for the chunk whose number `near` has, if it meets a condition: one look-up by the whole key. */
function chunkNear(condition: string): string {
  return `SELECT chunk_id, document_id, ordinal, tie_breaker::float8 AS tie_breaker FROM parley.vector_chunks AS chunk
    WHERE org = $1 AND collection_id = $2 AND number = near.number${condition} OFFSET 0`;
}

/** Returns the `limit` best rows, and those that score as much as the last of them: their tie breakers decide. */
async function withTies(limit: number, nearest: (fetched: string, rows: number) => Promise<readonly HitRow[]>): Promise<readonly HitRow[]> {
  const best = async (fetched: string, rows: number): Promise<readonly HitRow[]> =>
    (await nearest(fetched, rows)).toSorted((one, other) => other.score - one.score);
  const rows = await best('FETCH FIRST ($4::int) ROWS ONLY', limit + 1);
  // Ties are fetched only then, because Postgres sorts all rows to return ties, and only the best of them otherwise.
  return rows.length > limit && rows[limit]?.score === rows[limit - 1]?.score ? best('FETCH FIRST ($4::int) ROWS WITH TIES', limit) : rows;
}

/** The name has fixed characters: the column that it comes from takes nothing else. */
function tableOf(graph: string): string {
  return `parley.${graph}`;
}

function literal(units: Float32Array): string {
  return `[${units.join(',')}]`;
}
