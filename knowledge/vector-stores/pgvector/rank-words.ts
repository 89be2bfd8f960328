/** The ranking by words: BM25 from the inverted index. */
import type { Transaction } from '../../../store/database.ts';
import { passageUnit, queryUnits } from '../exact-weights.ts';
import { byRank } from '../fuse-rankings.ts';
import type { VectorHit, VectorQuery } from '../vector-store.ts';
import { scorePostings } from './postings.ts';
import { conditionOf, type Scope } from './scope.ts';

interface ChunkRow {
  readonly number: number;
  readonly chunk_id: string;
  readonly document_id: string;
  readonly ordinal: number;
}

/** The best `limit` chunks that share a term with the query and meet its conditions. */
export async function rankWords(transaction: Transaction, scope: Scope, query: VectorQuery, limit: number): Promise<readonly VectorHit[]> {
  const units = queryUnits(query.sparse);
  if (units.indices.length === 0) return [];
  const { numbers, scores } = await scorePostings(transaction, scope, units);
  const hit = (row: ChunkRow, score: number): VectorHit => ({
    chunkId: row.chunk_id,
    documentId: row.document_id,
    ordinal: row.ordinal,
    score: (score * units.step) / passageUnit,
  });
  const best = (hits: readonly VectorHit[]): readonly VectorHit[] => hits.toSorted(byRank).slice(0, limit);

  const found: VectorHit[] = [];
  let upper = Infinity;
  // The best first: mostly enough of them are still there and wanted. A document's are few among all.
  const atFirst = Math.max(100, 2 * limit) * (query.filter === undefined ? 1 : 5);
  for (let wanted = atFirst; query.document === undefined; wanted *= 8) {
    // Down to a score and not to a number of chunks: all that share the last score are in.
    const lower = scoreOfRank(scores, wanted);
    const batch = new Map<number, number>();
    for (let position = 0; position < numbers.length; position += 1) {
      const score = scores[position] ?? 0;
      if (score >= lower && score < upper) batch.set(numbers[position] ?? 0, score);
    }
    for (const row of await lookUp(transaction, scope, query, [...batch.keys()])) found.push(hit(row, batch.get(row.number) ?? 0));
    if (found.length >= limit || wanted >= scores.length) return best(found);
    // Conditions that few meet: cheaper asked of every chunk than of one after another.
    if (conditionOf(query, 3).sql !== '') break;
    upper = lower;
  }
  const scoreOf = new Map<number, number>();
  for (let position = 0; position < numbers.length; position += 1) scoreOf.set(numbers[position] ?? 0, scores[position] ?? 0);
  return best(
    (await allThatMeet(transaction, scope, query)).flatMap((row) => {
      const score = scoreOf.get(row.number);
      return score === undefined ? [] : [hit(row, score)];
    }),
  );
}

/** A score that at least `rank` of them reach, and not many more: counted in steps of a thousandth of the best, which is far quicker than sorting. */
function scoreOfRank(scores: Float64Array, rank: number): number {
  if (rank >= scores.length) return 0;
  const steps = 1_000;
  let best = 0;
  for (const score of scores) if (score > best) best = score;
  const counts = new Uint32Array(steps + 1);
  for (const score of scores) {
    const step = Math.floor((score * steps) / best);
    counts[step] = (counts[step] ?? 0) + 1;
  }
  let reached = 0;
  let step = steps;
  for (; step > 0; step -= 1) {
    reached += counts[step] ?? 0;
    if (reached >= rank) break;
  }
  return (step * best) / steps;
}

const columns = 'chunk.number, chunk.chunk_id, chunk.document_id, chunk.ordinal';

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
