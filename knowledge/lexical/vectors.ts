/**
 * BM25 as sparse vectors: the inner product of a query's and a passage's vector is the passage's BM25 score, so that every
 * store that can take an inner product ranks alike.
 */
import { dimensionOf } from './dimension.ts';
import { stopDimensions } from './stop-words.ts';

/** How soon further occurrences of a term stop counting. */
const K1 = 1.2;
/** A term weighs less than this in a passage, however often it is there. */
export const TERM_WEIGHT_LIMIT = K1 + 1;
/** How much of a passage's length counts: 0 none, 1 all. */
const B = 0.75;
/**
 * What is left of a function word's weight in a question. Passages keep theirs, so that a phrase is still found word by
 * word. nDCG@10 with 1, 0.1 and 0: Cranfield 0.516, 0.527, 0.527; CISI 0.358, 0.405, 0.407; CACM 0.488, 0.507, 0.501.
 */
const STOP_WORD_SHARE = 0.1;

/**
 * Terms of a passage that counts as neither short nor long. A constant in the place of the collection's mean, so that a weight
 * depends on nothing but its passage: in whatever order documents come and go, the same ones rank the same (ADR 57 has the quality).
 * It is stored in every weight, and as the default of `collections.average_length`.
 */
export const REFERENCE_LENGTH = 110;

export interface PassageOptions {
  /** What the collection's weights were made with, where that is not {@link REFERENCE_LENGTH}: the mean that older releases took. */
  readonly referenceLength?: number;
}

/** A weight of `tf·(K1+1) / (tf + K1·(1 − b + b·length/referenceLength))` for each term of a passage. Without terms it is empty. */
export function documentVector(terms: readonly string[], { referenceLength = REFERENCE_LENGTH }: PassageOptions = {}): SparseVector {
  const saturation = K1 * (1 - B + (B * terms.length) / referenceLength);
  return toVector(frequencies(terms), (_, frequency) => (frequency * TERM_WEIGHT_LIMIT) / (frequency + saturation));
}

export interface QueryOptions {
  /** Passages in the knowledge base. */
  readonly documentCount: number;
  /** In how many of them a dimension is not zero. */
  readonly frequencyOf: (dimension: number) => number;
  /** BCP 47, the same that the terms were made with: whose function words count little. */
  readonly language?: string | undefined;
}

/**
 * A weight of `tf·ln(1 + (N − df + 0.5) / (df + 0.5))` for each distinct term of a query, tf being how often the query has
 * it: above zero even for a term that every passage has. Terms that no passage has are kept; they match nothing and
 * lower {@link relevance}.
 */
export function queryVector(terms: readonly string[], options: QueryOptions): SparseVector {
  const stops = stopDimensions(options.language);
  return toVector(frequencies(terms), (dimension, occurrences) => {
    // A frequency read a moment before or after the count may exceed it.
    const frequency = Math.min(options.frequencyOf(dimension), options.documentCount);
    const rarity = Math.log(1 + (options.documentCount - frequency + 0.5) / (frequency + 0.5));
    return occurrences * rarity * (stops.has(dimension) ? STOP_WORD_SHARE : 1);
  });
}

/**
 * Maps an inner product onto 0 … 1, in the same order: its share of what a passage would score that consisted of
 * nothing but endless repetitions of the query's terms, `Σ weight·(K1+1)`. Never quite 1; a short passage that has each
 * term once comes to about one half.
 */
export function relevance(score: number, query: SparseVector): number {
  let most = 0;
  for (const weight of query.values) most += weight * TERM_WEIGHT_LIMIT;
  if (most <= 0) return 0;
  return Math.min(1, Math.max(0, score / most));
}

/** Distinct dimensions of a passage's terms: what document frequencies count. */
export function dimensionsOf(terms: readonly string[]): readonly number[] {
  return [...frequencies(terms).keys()].toSorted((left, right) => left - right);
}

function frequencies(terms: readonly string[]): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const term of terms) {
    const dimension = dimensionOf(term);
    counts.set(dimension, (counts.get(dimension) ?? 0) + 1);
  }
  return counts;
}

function toVector(counts: ReadonlyMap<number, number>, weigh: (dimension: number, frequency: number) => number): SparseVector {
  const entries = [...counts].toSorted(([left], [right]) => left - right);
  return {
    indices: entries.map(([dimension]) => dimension),
    values: entries.map(([dimension, frequency]) => weigh(dimension, frequency)),
  };
}

/** A vector that is zero nearly everywhere. */
export interface SparseVector {
  /** Dimensions, ascending, each once: 1 … 999,999,999. */
  readonly indices: readonly number[];
  /** One for each index, finite and above zero. */
  readonly values: readonly number[];
}
