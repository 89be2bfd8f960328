import type { VectorHit } from './vector-store.ts';

/** Source: Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion", SIGIR 2009, which also found the constant. */
const RECIPROCAL_RANK_CONSTANT = 60;

/** The score of a hit that is first in both of two rankings. */
export const bestReciprocalRank = 2 / (RECIPROCAL_RANK_CONSTANT + 1);

/** Returns the number of hits of each ranking that are fused into `topK`. */
export function candidatesFor(topK: number): number {
  return Math.max(50, 4 * topK);
}

/** Sorts by score, the highest first; where scores are equal by the document's content, then by the order in the document. */
export function byRank(left: VectorHit, right: VectorHit): number {
  return (
    right.score - left.score ||
    left.tieBreaker - right.tieBreaker ||
    (left.documentId === right.documentId ? left.ordinal - right.ordinal : left.documentId < right.documentId ? -1 : 1)
  );
}

/** Fuses rankings by their reciprocal ranks: each gives its hits `1 / (60 + rank)`, and a hit's score is the sum. */
export function fuseRankings(rankings: readonly (readonly VectorHit[])[], topK: number): readonly VectorHit[] {
  const fused = new Map<string, VectorHit>();
  for (const ranking of rankings) {
    for (const [position, hit] of ranking.entries()) {
      const share = 1 / (RECIPROCAL_RANK_CONSTANT + position + 1);
      fused.set(hit.chunkId, { ...hit, score: (fused.get(hit.chunkId)?.score ?? 0) + share });
    }
  }
  return [...fused.values()].toSorted(byRank).slice(0, topK);
}
