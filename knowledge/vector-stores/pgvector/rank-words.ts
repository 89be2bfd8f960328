/** Ranks by words: BM25 from the inverted index. */
import type { Transaction } from '../../../store/database.ts';
import { TERM_WEIGHT_LIMIT } from '../../lexical/vectors.ts';
import { PASSAGE_UNIT, queryUnits, type QueryUnits } from '../exact-weights.ts';
import { byRank } from '../fuse-rankings.ts';
import type { VectorHit, VectorQuery } from '../vector-store.ts';
import { addScores, SEGMENT_SIZE, withScores, type ChunkScores, type Scores } from './postings.ts';
import { sqlConditions, type Scope } from './scope.ts';

export interface RankOptions {
  readonly limit: number;
  /** The numbers of all chunks that meet the query's conditions, where they are known already. */
  readonly meeting?: Int32Array | undefined;
}

interface ChunkRow {
  readonly number: number;
  readonly chunk_id: string;
  readonly document_id: string;
  readonly ordinal: number;
  readonly tie_breaker: number;
}

/** Upper bound of a term's units in a passage. */
const usualMost = TERM_WEIGHT_LIMIT * PASSAGE_UNIT;

/** Returns the best `limit` chunks that share a term with the query and meet its conditions. */
export async function rankWords(
  transaction: Transaction,
  scope: Scope,
  query: VectorQuery,
  { limit, meeting }: RankOptions,
): Promise<readonly VectorHit[]> {
  const units = queryUnits(query.sparse);
  if (units.indices.length === 0) return [];
  const hit = (row: ChunkRow, score: number): VectorHit => ({
    chunkId: row.chunk_id,
    documentId: row.document_id,
    ordinal: row.ordinal,
    tieBreaker: row.tie_breaker,
    score: (score * units.step) / PASSAGE_UNIT,
  });
  const best = (hits: readonly VectorHit[]): readonly VectorHit[] => hits.toSorted(byRank).slice(0, limit);

  // The best chunks come first: mostly enough of them still exist and meet the conditions. A document's are few among all.
  const atFirst = 16 + 2 * limit;

  return withScores(transaction, scope, async (scores) => {
    // Another look into the index costs more than it saves where there are few chunks.
    if (isLarge(query) && query.document === undefined) {
      const { likely, surely, unread } = await rareTermsFirst(scores, units, { wanted: limit + FEW_GONE, meeting });
      if (likely !== undefined) {
        await addScores(transaction, scope, unread, likely);
        const numbers = [...likely].filter(([, score]) => score >= surely).map(([number]) => number);
        const rows = await lookUp(transaction, scope, query, numbers);
        if (rows.length >= limit) return best(rows.map((row) => hit(row, likely.get(row.number) ?? 0)));
      }
      if (unread.indices.length > 0) await scores.read(unread);
    } else await scores.read(units);
    const chunks = scores.chunks(meeting);
    const counted = stepsOf(chunks, units);
    const found: VectorHit[] = [];
    let upper = Infinity;
    for (let wanted = atFirst; query.document === undefined; wanted *= 8) {
      // The limit is a score and not a number of chunks, so that all that share the last score are in.
      const about = counted.scoreOfRank(wanted);
      const batch = scoredBetween(chunks, about, upper);
      // Steps are coarse where a filter leaves none of the best.
      const lower = upper === Infinity ? (Float64Array.from(batch.values()).toSorted().at(-wanted) ?? about) : about;
      for (const [number, score] of batch) if (score < lower) batch.delete(number);
      for (const row of await lookUp(transaction, scope, query, [...batch.keys()])) found.push(hit(row, batch.get(row.number) ?? 0));
      if (found.length >= limit || wanted >= counted.chunks) return best(found);
      // Conditions that few chunks meet are cheaper to ask of every chunk than of one after another.
      if (wanted > atFirst && sqlConditions(query, 3).sql !== '') break;
      upper = lower;
    }
    const { scoreOf } = scores;
    const rows = await allThatMeet(transaction, scope, query);
    return best(rows.filter(({ number }) => scoreOf(number) > 0).map((row) => hit(row, scoreOf(row.number))));
  });
}

/** Tells whether the collection may have more chunks than a segment. */
export function isLarge({ chunks = Infinity }: VectorQuery): boolean {
  return chunks > SEGMENT_SIZE;
}

/** Returns the chunks that score `lower` or more, above 0, and less than `upper`. */
function scoredBetween(chunks: readonly ChunkScores[], lower: number, upper: number): Map<number, number> {
  const found = new Map<number, number>();
  for (const { scores, end, numberAt } of chunks) {
    for (let index = 0; index < end; index += 1) {
      const score = scores[index] ?? 0;
      if (score >= lower && score > 0 && score < upper) found.set(numberAt(index), score);
    }
  }
  return found;
}

/** Number of deleted chunks that the index may still have among the best; with more, everything is read. */
const FEW_GONE = 4;
/** Shares of the weight that the terms read last can add: of all terms' at first, and then of the least of the best scores so far. */
const UNREAD_SHARES = [1 / 8, 1 / 4, 1 / 16];
/** Most candidates: more have nearly all rows of a frequent term. */
const MAX_CANDIDATES = 256;

/**
 * Reads the terms that few chunks have, until only some chunks can still be among the `wanted` best: frequent terms have nearly all rows of
 * the index that a query needs, and only the rows of these chunks are read.
 * @returns `likely`: scores without the `unread` terms of the chunks that can be among the best, where these are few. All others have in
 * the end less than `surely`
 */
async function rareTermsFirst(
  scores: Scores,
  query: QueryUnits,
  { wanted, meeting }: { readonly wanted: number; readonly meeting: Int32Array | undefined },
): Promise<{ readonly likely: Map<number, number> | undefined; readonly surely: number; readonly unread: QueryUnits }> {
  let unread = query;
  let surely = total(query) * usualMost;
  for (const share of UNREAD_SHARES) {
    const { light, heavy } = split(unread, (surely / usualMost) * share);
    if (light.indices.length === 0) break;
    await scores.read(heavy);
    unread = light;
    const chunks = scores.chunks(meeting);
    const counted = stepsOf(chunks, query);
    surely = counted.scoreOfRank(wanted);
    const lowest = surely - total(unread) * usualMost;
    if (lowest > 0 && counted.reaching(lowest) <= MAX_CANDIDATES)
      return { likely: scoredBetween(chunks, lowest, Infinity), surely, unread };
  }
  return { likely: undefined, surely, unread };
}

/**
 * Splits terms into the lightest, as many as have together no more than this weight, and the others, one at least. The lighter a term, the
 * more chunks have it.
 */
function split({ indices, units, step }: QueryUnits, weight: number): { readonly light: QueryUnits; readonly heavy: QueryUnits } {
  const byWeight = indices.map((term, position) => ({ term, weight: units[position] ?? 0 })).toSorted((a, b) => a.weight - b.weight);
  let left = weight;
  const heavier = byWeight.findIndex((each) => (left -= each.weight) < 0);
  const first = heavier < 0 ? byWeight.length - 1 : heavier;
  const of = (terms: typeof byWeight): QueryUnits => ({
    indices: terms.map(({ term }) => term),
    units: terms.map((each) => each.weight),
    step,
  });
  return { light: of(byWeight.slice(0, first)), heavy: of(byWeight.slice(first)) };
}

function total({ units }: Pick<QueryUnits, 'units'>): number {
  return units.reduce((sum, weight) => sum + weight, 0);
}

const STEPS = 4_096;

interface Steps {
  readonly chunks: number;
  reaching(score: number): number;
  scoreOfRank(rank: number): number;
}

/** Counts scores in steps between 0 and an upper bound, which is far quicker than sorting them. */
function stepsOf(scored: readonly ChunkScores[], units: QueryUnits): Steps {
  const scale = STEPS / (total(units) * usualMost);
  const counts = new Uint32Array(STEPS + 1);
  let chunks = 0;
  for (const { scores, end } of scored) {
    // This goes by index: an iterator takes several times as long, and this runs for each chunk.
    for (let index = 0; index < end; index += 1) {
      const score = scores[index] ?? 0;
      if (score === 0) continue;
      chunks += 1;
      const step = Math.min(STEPS, (score * scale) | 0);
      counts[step] = (counts[step] ?? 0) + 1;
    }
  }
  return {
    chunks,
    /** Counts the chunks that score so much or more, and perhaps a few that score a little less. */
    reaching(score) {
      let reached = 0;
      for (let step = STEPS; step >= Math.min(STEPS, (score * scale) | 0); step -= 1) reached += counts[step] ?? 0;
      return reached;
    },
    /** Returns a score that at least `rank` of them reach, and not many more. */
    scoreOfRank(rank) {
      if (rank >= chunks) return 0;
      let reached = 0;
      for (let step = STEPS; step > 0; step -= 1) {
        reached += counts[step] ?? 0;
        // The score is a hair lower, as far as rounding may have lifted a score into its step.
        if (reached >= rank) return (step / scale) * (1 - 1e-12);
      }
      return 0;
    },
  };
}

const COLUMNS = 'chunk.number, chunk.chunk_id, chunk.document_id, chunk.ordinal, chunk.tie_breaker::float8 AS tie_breaker';

/** Looks up each number by the whole key: a plan that needs no statistics. */
async function lookUp(
  transaction: Transaction,
  { org, collectionId }: Scope,
  query: VectorQuery,
  numbers: readonly number[],
): Promise<readonly ChunkRow[]> {
  if (numbers.length === 0) return [];
  const condition = sqlConditions(query, 4);
  const { rows } = await transaction.query<ChunkRow>(
    `SELECT ${COLUMNS} FROM unnest($3::int[]) AS wanted (number) CROSS JOIN LATERAL (
       SELECT * FROM parley.vector_chunks AS chunk
       WHERE chunk.org = $1 AND chunk.collection_id = $2 AND chunk.number = wanted.number${condition.sql} OFFSET 0
     ) AS chunk`,
    [org, collectionId, numbers, ...condition.values],
    { prepared: true },
  );
  return rows;
}

async function allThatMeet(transaction: Transaction, { org, collectionId }: Scope, query: VectorQuery): Promise<readonly ChunkRow[]> {
  const condition = sqlConditions(query, 3);
  const { rows } = await transaction.query<ChunkRow>(
    `SELECT ${COLUMNS} FROM parley.vector_chunks AS chunk WHERE chunk.org = $1 AND chunk.collection_id = $2${condition.sql}`,
    [org, collectionId, ...condition.values],
  );
  return rows;
}
