import type { Collection } from '../../store/index.ts';

/** How far the mean length of chunks may move from the one that the stored weights were made with. */
const DRIFT = 0.2;

/**
 * Whether the sparse vectors of a collection are due to be computed again. Only where words alone rank: with a model each
 * chunk would be embedded again, which is a person's decision (`parley kb reindex`), and ranking by words matters less.
 */
export function needsReweighting({ dimension, averageLength, chunkCount, termTotal }: Collection): boolean {
  if (dimension > 0 || chunkCount === 0 || averageLength === 0) return false;
  return Math.abs(termTotal / chunkCount / averageLength - 1) > DRIFT;
}
