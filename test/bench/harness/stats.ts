/** Computes every figure: nearest-rank percentiles, medians, ratios of rounds that ran side by side. */

export interface Distribution {
  readonly count: number;
  readonly min: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
  readonly mean: number;
}

/**
 * Returns the nearest-rank percentile: the smallest value that at least `p` percent of the values do not exceed.
 * It is always a value that was measured; NaN for no values.
 *
 * @param p 0 to 100.
 */
export function percentile(values: readonly number[], p: number): number {
  return ofSorted(ascending(values), p);
}

/** Returns the mean of the two middle values where the count is even; NaN for no values. */
export function median(values: readonly number[]): number {
  const sorted = ascending(values);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

export function summarize(values: readonly number[]): Distribution {
  const sorted = ascending(values);
  return {
    count: sorted.length,
    min: sorted[0] ?? Number.NaN,
    p50: ofSorted(sorted, 50),
    p90: ofSorted(sorted, 90),
    p99: ofSorted(sorted, 99),
    max: sorted.at(-1) ?? Number.NaN,
    mean: sorted.reduce((sum, value) => sum + value, 0) / sorted.length,
  };
}

/**
 * Returns the median of `a[i] / b[i]`. Rounds of one index ran next to each other, so what disturbed one very likely disturbed the other:
 * their ratio is steadier than the ratio of two medians.
 */
export function pairedRatio(a: readonly number[], b: readonly number[]): number {
  const pairs = Math.min(a.length, b.length);
  return median(Array.from({ length: pairs }, (_, round) => (a[round] ?? Number.NaN) / (b[round] ?? Number.NaN)));
}

function ascending(values: readonly number[]): readonly number[] {
  return [...values].sort((a, b) => a - b);
}

function ofSorted(sorted: readonly number[], p: number): number {
  const rank = Math.max(1, Math.ceil((p / 100) * sorted.length));
  return sorted[rank - 1] ?? Number.NaN;
}
