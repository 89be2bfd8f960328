import type { Collection } from '../../store/index.ts';
import { REFERENCE_LENGTH } from '../lexical/vectors.ts';

/**
 * Whether the sparse vectors of a collection were weighed with another length than those of today: by an older release. Only where words alone rank:
 * with a model each chunk would be embedded again, which is a person's decision (`parley kb reindex`), and ranking by words matters less.
 */
export function needsReweighting({ dimension, averageLength, chunkCount, deleted }: Collection): boolean {
  return dimension === 0 && chunkCount > 0 && !deleted && averageLength !== REFERENCE_LENGTH;
}
