/** A vector that is zero nearly everywhere. */
export interface SparseVector {
  /** Dimensions, ascending, each once: 1 … 999,999,999. */
  readonly indices: readonly number[];
  /** One for each index, finite and above zero. */
  readonly values: readonly number[];
}
