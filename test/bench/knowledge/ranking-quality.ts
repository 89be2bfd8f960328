/** How good a ranking is, against what people have judged to be relevant. */

/** Normalised discounted cumulative gain of the first `depth` ids, with a gain of one for each relevant one: 0 … 1. */
export function ndcg(ranking: readonly string[], relevant: ReadonlySet<string>, depth: number): number {
  const discount = (rank: number): number => 1 / Math.log2(rank + 2);
  let gain = 0;
  ranking.slice(0, depth).forEach((id, rank) => {
    if (relevant.has(id)) gain += discount(rank);
  });
  let best = 0;
  for (let rank = 0; rank < Math.min(depth, relevant.size); rank += 1) best += discount(rank);
  return best === 0 ? 0 : gain / best;
}

/** One divided by the rank of the first relevant id within `depth`, or 0. */
export function reciprocalRank(ranking: readonly string[], relevant: ReadonlySet<string>, depth: number): number {
  const rank = ranking.slice(0, depth).findIndex((id) => relevant.has(id));
  return rank < 0 ? 0 : 1 / (rank + 1);
}
