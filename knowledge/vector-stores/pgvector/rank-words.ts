/** The ranking by words: BM25 from the inverted index. */
import type { Transaction } from '../../../store/database.ts';
import { PASSAGE_UNIT, queryUnits, type QueryUnits } from '../exact-weights.ts';
import { byRank } from '../fuse-rankings.ts';
import type { VectorHit, VectorQuery } from '../vector-store.ts';
import { scorePostings, segmentOf, startOf, type SegmentScores } from './postings.ts';
import { conditionOf, type Scope } from './scope.ts';

export interface RankOptions {
  readonly limit: number;
  /** The numbers of all chunks that meet the query's conditions, where they are known already. */
  readonly meeting?: readonly number[] | undefined;
}

interface ChunkRow {
  readonly number: number;
  readonly chunk_id: string;
  readonly document_id: string;
  readonly ordinal: number;
  readonly tie_breaker: number;
}

/** Units of a term in a passage: BM25 weighs it with less than 2.2. Where another weighting gives more, the highest scores share a step. */
const usualMost = 2.2 * PASSAGE_UNIT;

/** The best `limit` chunks that share a term with the query and meet its conditions. */
export async function rankWords(
  transaction: Transaction,
  scope: Scope,
  query: VectorQuery,
  { limit, meeting }: RankOptions,
): Promise<readonly VectorHit[]> {
  const units = queryUnits(query.sparse);
  if (units.indices.length === 0) return [];
  const segments = await scorePostings(transaction, scope, units);
  if (meeting !== undefined) keepOnly(segments, meeting);
  const counted = stepsOf(segments, units);
  const hit = (row: ChunkRow, score: number): VectorHit => ({
    chunkId: row.chunk_id,
    documentId: row.document_id,
    ordinal: row.ordinal,
    tieBreaker: row.tie_breaker,
    score: (score * units.step) / PASSAGE_UNIT,
  });
  const best = (hits: readonly VectorHit[]): readonly VectorHit[] => hits.toSorted(byRank).slice(0, limit);

  const found: VectorHit[] = [];
  let upper = Infinity;
  // The best first: mostly enough of them are still there and wanted. A document's are few among all.
  const atFirst = 16 + 2 * limit;
  for (let wanted = atFirst; query.document === undefined; wanted *= 8) {
    // Down to a score and not to a number of chunks: all that share the last score are in.
    const lower = counted.scoreOfRank(wanted);
    const batch = new Map<number, number>();
    for (const { start, scores, end } of segments) {
      for (let local = 0; local < end; local += 1) {
        const score = scores[local] ?? 0;
        if (score >= lower && score > 0 && score < upper) batch.set(start + local, score);
      }
    }
    for (const row of await lookUp(transaction, scope, query, [...batch.keys()])) found.push(hit(row, batch.get(row.number) ?? 0));
    if (found.length >= limit || wanted >= counted.chunks) return best(found);
    // Conditions that few meet: cheaper asked of every chunk than of one after another.
    if (wanted > atFirst && conditionOf(query, 3).sql !== '') break;
    upper = lower;
  }
  const scoresOf = new Map(segments.map(({ start, scores }) => [start, scores]));
  return best(
    (await allThatMeet(transaction, scope, query)).flatMap((row) => {
      const start = startOf(segmentOf(row.number));
      const score = scoresOf.get(start)?.[row.number - start] ?? 0;
      return score === 0 ? [] : [hit(row, score)];
    }),
  );
}

const STEPS = 4_096;

/** Scores counted in steps between 0 and what they can hardly exceed, which is far quicker than sorting them. */
function stepsOf(segments: readonly SegmentScores[], units: QueryUnits): { readonly chunks: number; scoreOfRank(rank: number): number } {
  const scale = STEPS / (units.units.reduce((sum, weight) => sum + weight, 0) * usualMost);
  const counts = new Uint32Array(STEPS + 1);
  let chunks = 0;
  for (const { scores, end } of segments) {
    // By index: an iterator takes several times as long, and this is done for each chunk.
    for (let local = 0; local < end; local += 1) {
      const score = scores[local] ?? 0;
      if (score === 0) continue;
      chunks += 1;
      const step = Math.min(STEPS, Math.floor(score * scale));
      counts[step] = (counts[step] ?? 0) + 1;
    }
  }
  return {
    chunks,
    /** A score that at least `rank` of them reach, and not many more. */
    scoreOfRank(rank) {
      if (rank >= chunks) return 0;
      let reached = 0;
      for (let step = STEPS; step > 0; step -= 1) {
        reached += counts[step] ?? 0;
        // A hair lower, as far as rounding may have lifted a score into its step.
        if (reached >= rank) return (step / scale) * (1 - 1e-12);
      }
      return 0;
    },
  };
}

/** Sets the scores of all other chunks to 0. */
function keepOnly(segments: readonly SegmentScores[], numbers: readonly number[]): void {
  const before = new Map(segments.map((segment) => [segment.start, segment.scores.slice()]));
  for (const { scores } of segments) scores.fill(0);
  const after = new Map(segments.map((segment) => [segment.start, segment.scores]));
  for (const number of numbers) {
    const start = startOf(segmentOf(number));
    const scores = after.get(start);
    if (scores !== undefined) scores[number - start] = before.get(start)?.[number - start] ?? 0;
  }
}

const columns = 'chunk.number, chunk.chunk_id, chunk.document_id, chunk.ordinal, chunk.tie_breaker::float8 AS tie_breaker';

/** One look-up by the whole key for each number: a plan that needs no statistics. */
async function lookUp(
  transaction: Transaction,
  { org, collectionId }: Scope,
  query: VectorQuery,
  numbers: readonly number[],
): Promise<readonly ChunkRow[]> {
  if (numbers.length === 0) return [];
  const condition = conditionOf(query, 4);
  const { rows } = await transaction.query<ChunkRow>(
    `SELECT ${columns} FROM unnest($3::int[]) AS wanted (number) CROSS JOIN LATERAL (
       SELECT * FROM parley.vector_chunks AS chunk
       WHERE chunk.org = $1 AND chunk.collection_id = $2 AND chunk.number = wanted.number${condition.sql} OFFSET 0
     ) AS chunk`,
    [org, collectionId, numbers, ...condition.values],
    { prepared: true },
  );
  return rows;
}

async function allThatMeet(transaction: Transaction, { org, collectionId }: Scope, query: VectorQuery): Promise<readonly ChunkRow[]> {
  const condition = conditionOf(query, 3);
  const { rows } = await transaction.query<ChunkRow>(
    `SELECT ${columns} FROM parley.vector_chunks AS chunk WHERE chunk.org = $1 AND chunk.collection_id = $2${condition.sql}`,
    [org, collectionId, ...condition.values],
  );
  return rows;
}
