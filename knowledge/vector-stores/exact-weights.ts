/**
 * Writes vectors as small integers. An inner product of them that stays below 2^24 comes out the same in single precision, whatever the
 * order in which a store adds it up and however it vectorises: so all stores rank alike to the last tie.
 */
import type { SparseVector } from '../lexical/vectors.ts';
import { VectorStoreError } from './vector-store.ts';

export interface SparseUnits {
  readonly indices: readonly number[];
  readonly units: readonly number[];
}

/** Units for a weight of 1 in a passage. */
export const PASSAGE_UNIT = 1024;

const MOST = 65_535;
/** Most units of a query: multiplied by the most units of a term in a passage, 2.8 · 1,024, it stays below 2^24. */
const QUERY_TOTAL = 4096;
const LAST_INDEX = 999_999_999;

/** Returns a passage's weights in 1,024ths, one at least. They are off by 0.0005 at most, for weights around 1. */
export function passageUnits(vector: SparseVector): SparseUnits {
  checkSparse(vector);
  return {
    indices: vector.indices,
    units: vector.values.map((value) => {
      const units = Math.max(1, Math.round(value * PASSAGE_UNIT));
      if (units > MOST) throw new VectorStoreError('invalid', 'a sparse vector of a passage has a weight of 64 or more');
      return units;
    }),
  };
}

/** `step` is the value of one unit, a power of two: weights that add up to 50 are off by 1/128 at most. */
export interface QueryUnits extends SparseUnits {
  readonly step: number;
}

/** Returns a query's weights in units of a size of its own. */
export function queryUnits(vector: SparseVector): QueryUnits {
  checkSparse(vector);
  const total = vector.values.reduce((sum, value) => sum + value, 0);
  const step = total > 0 ? 2 ** Math.ceil(Math.log2(total / QUERY_TOTAL)) : 1;
  return { indices: vector.indices, units: vector.values.map((value) => Math.max(1, Math.round(value / step))), step };
}

function checkSparse({ indices, values }: SparseVector): void {
  if (indices.length !== values.length) throw new VectorStoreError('invalid', 'a sparse vector has not as many values as indices');
  let before = 0;
  for (const [position, index] of indices.entries()) {
    const value = values[position] ?? 0;
    if (!Number.isInteger(index) || index <= before || index > LAST_INDEX) {
      throw new VectorStoreError('invalid', 'a sparse vector has indices that do not ascend, or are outside 1 … 999,999,999');
    }
    if (!(value > 0 && Number.isFinite(value))) {
      throw new VectorStoreError('invalid', 'a sparse vector has a value that is not above zero and finite');
    }
    before = index;
  }
}

/** Length of a dense vector in units: the largest power of two that half-precision numbers count up to without gaps. */
export const DENSE_LENGTH = 2048;

/**
 * Returns the direction of a dense vector: 2,048 units long, in whole units. The inner product of two is their cosine times 2,048², off by
 * 0.0002 (one standard deviation), which is far below the differences between passages.
 */
export function denseUnits(vector: Float32Array, dimension: number): Float32Array {
  if (vector.length !== dimension) {
    throw new VectorStoreError('invalid', `a dense vector has ${vector.length} dimensions where the collection has ${dimension}`);
  }
  let square = 0;
  for (const value of vector) square += value * value;
  if (!(square > 0 && Number.isFinite(square))) {
    throw new VectorStoreError('invalid', 'a dense vector is zero, or not finite');
  }
  const factor = DENSE_LENGTH / Math.sqrt(square);
  // `+ 0` turns -0 into 0.
  return vector.map((value) => Math.round(value * factor) + 0);
}
