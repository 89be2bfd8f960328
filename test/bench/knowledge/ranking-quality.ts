/** Says how good a ranking is, against what people have judged to be relevant. */

/** Grades of the relevant ids, above 0. */
export type Judgements = ReadonlyMap<string, number>;

/** Returns the normalised discounted cumulative gain of the first `depth` ids, with grades as gains, as trec_eval does: 0 … 1. */
export function ndcg(ranking: readonly string[], relevant: Judgements, depth: number): number {
  const gainOf = (grades: readonly number[]): number =>
    grades.slice(0, depth).reduce((sum, grade, rank) => sum + grade / Math.log2(rank + 2), 0);
  const best = gainOf([...relevant.values()].toSorted((left, right) => right - left));
  return best === 0 ? 0 : gainOf(ranking.map((id) => relevant.get(id) ?? 0)) / best;
}

/** Returns the share of the relevant ids that is among the first `depth`. */
export function recall(ranking: readonly string[], relevant: Judgements, depth: number): number {
  return relevant.size === 0 ? 0 : ranking.slice(0, depth).filter((id) => relevant.has(id)).length / relevant.size;
}

/** Returns one divided by the rank of the first relevant id within `depth`, or 0. */
export function reciprocalRank(ranking: readonly string[], relevant: Judgements, depth: number): number {
  const rank = ranking.slice(0, depth).findIndex((id) => relevant.has(id));
  return rank < 0 ? 0 : 1 / (rank + 1);
}
