/**
 * Computes BM25 as sparse vectors: the inner product of a query's and a passage's vector is the passage's BM25 score, so that every store
 * that can take an inner product ranks alike.
 */
import { dimensionOf } from './dimension.ts';
import { partTerm, type Halves } from './compounds.ts';
import { allTerms, type PassageTerms } from './passage.ts';
import type { Question } from './question.ts';

/** Decides how soon further occurrences of a term stop counting. */
const K1 = 1.2;
/** Decides how much of a passage's length counts: 0 none, 1 all. */
const B = 0.75;
/**
 * Extra weight of a term in a question of the passage: people ask pages of questions and answers in the words of their questions. nDCG@10
 * with 0, 0.5, 0.6 and 0.7: COVID-QA in English 0.663, 0.700, 0.707, 0.712, in German 0.391, 0.408, 0.409, 0.412; CISI 0.404, 0.403, 0.404,
 * 0.398.
 */
const QUESTION_BONUS = 0.6;
/** A term weighs less than this in a passage, however often it is there. */
export const TERM_WEIGHT_LIMIT = K1 + 1 + QUESTION_BONUS;
/**
 * Share of a function word's weight that remains in a question with few other words, which says much by them ("Can I enter the US?"); the
 * more other words, the less remains. Passages keep the full weight, so that a phrase is still found word by word. nDCG@10 with 0, 0.1 and
 * 0.3 at most: COVID-QA in English 0.687, 0.697, 0.708, in German 0.407, 0.412, 0.410.
 */
const FUNCTION_WORD_SHARE = 0.3;
const FEW_WORDS = 4;
/** Share of the weight that remains for phrases around a question. */
const FRAME_SHARE = 0.1;
/**
 * Shares of a word's weight: as a part of a compound beside the word itself, and for its alternatives: halves, other forms, a part where no
 * word is.
 */
const PART_SHARE = 0.4;
const ALTERNATIVE_SHARE = 0.7;
/** Frequency with which a word counts that the knowledge base lacks: 0.001 to 0.1 are equally good. */
const EVIDENCE_OF_NONE = 0.01;

/**
 * Terms of a passage that counts as neither short nor long. A constant in the place of the collection's mean, so that a weight
 * depends on nothing but its passage: in whatever order documents come and go, the same ones rank the same (ADR 57 has the quality). It is in every weight: another one asks for a
 * reindex.
 */
export const REFERENCE_LENGTH = 110;

/**
 * Returns a weight of `tf·(K1+1) / (tf + K1·(1 − b + b·length/{@link REFERENCE_LENGTH}))` for each term of a passage, whose length is that
 * of its words, and a bonus for terms of its questions. Without terms it is empty.
 */
export function documentVector(passage: PassageTerms): SparseVector {
  const saturation = K1 * (1 - B + (B * passage.words.length) / REFERENCE_LENGTH);
  const inQuestions = frequencies(passage.inQuestions);
  const weightOf = (dimension: number, tf: number): number =>
    (tf * (K1 + 1)) / (tf + saturation) + (inQuestions.has(dimension) ? QUESTION_BONUS : 0);
  return toVector(new Map([...frequencies(allTerms(passage))].map(([dimension, tf]) => [dimension, weightOf(dimension, tf)])));
}

export interface QueryOptions {
  /** Number of passages in the knowledge base. */
  readonly documentCount: number;
  readonly frequencyOf: (dimension: number) => number;
}

/**
 * Returns a weight of `ln(1 + (N − df + 0.5) / (df + 0.5))` for each time that a question has a term: above zero even for a term that every
 * passage has. Terms that no passage has are kept; they match nothing and lower {@link relevance}. The alternatives of a word (parts of
 * compounds, halves, other forms) count where the knowledge base has them.
 */
export function queryVector(question: Question, { documentCount, frequencyOf }: QueryOptions): SparseVector {
  const { asked, frame, alternatives, stops, inCompounds } = question;
  const weights = new Map<number, number>();
  const frequency = (term: string): number => frequencyOf(dimensionOf(term));
  const isStop = (term: string): boolean => stops.has(dimensionOf(term));
  const add = (term: string, share: number): void => {
    const dimension = dimensionOf(term);
    // A frequency read a moment before or after the count may exceed it.
    const passages = Math.min(frequencyOf(dimension), documentCount);
    const rarity = Math.log(1 + (documentCount - passages + 0.5) / (passages + 0.5));
    weights.set(dimension, (weights.get(dimension) ?? 0) + share * rarity);
  };
  const addIfThere = (term: string, share: number): void => {
    if (frequency(term) > 0) add(term, share);
  };
  const addPart = (term: string, share: number): void => {
    if (inCompounds && !isStop(term)) addIfThere(partTerm(term), share * (frequency(term) > 0 ? PART_SHARE : ALTERNATIVE_SHARE));
  };
  const words = new Set(asked.filter((term) => !isStop(term))).size;
  const functionWordShare = FUNCTION_WORD_SHARE * Math.min(1, FEW_WORDS / words);
  for (const term of asked) {
    add(term, isStop(term) ? functionWordShare : 1);
    addPart(term, 1);
  }
  for (const term of frame) if (!isStop(term)) add(term, FRAME_SHARE);
  for (const { compound, forms } of alternatives)
    for (const term of [...likeliestHalves(compound, frequency), ...forms]) {
      if (isStop(term)) continue;
      addIfThere(term, ALTERNATIVE_SHARE);
      addPart(term, ALTERNATIVE_SHARE);
    }
  return toVector(weights);
}

/**
 * Decides where to part a compound: both halves, or at least one, are words of the knowledge base, as frequent as possible (Koehn and
 * Knight, 2003).
 */
function likeliestHalves(compound: readonly Halves[], frequency: (term: string) => number): readonly string[] {
  const evidence = (term: string): number => frequency(term) + frequency(partTerm(term)) + EVIDENCE_OF_NONE;
  let likeliest: { readonly halves: readonly string[]; readonly score: number } = { halves: [], score: EVIDENCE_OF_NONE ** 2 };
  for (const halves of compound) {
    const score = evidence(halves[0]) * evidence(halves[1]);
    if (score > likeliest.score) likeliest = { halves, score };
  }
  return likeliest.halves;
}

/**
 * Maps an inner product onto 0 … 1, in the same order: its share of the score of a passage that is nothing but endless repetitions of a
 * question with the query's terms. It is never quite 1; a short passage that has each term once comes to about one half.
 */
export function relevance(score: number, query: SparseVector): number {
  let most = 0;
  for (const weight of query.values) most += weight * TERM_WEIGHT_LIMIT;
  if (most <= 0) return 0;
  return Math.min(1, Math.max(0, score / most));
}

/** Returns the distinct dimensions of terms, which document frequencies count. */
export function dimensionsOf(terms: readonly string[]): readonly number[] {
  return [...frequencies(terms).keys()].toSorted((left, right) => left - right);
}

function frequencies(terms: Iterable<string>): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const term of terms) {
    const dimension = dimensionOf(term);
    counts.set(dimension, (counts.get(dimension) ?? 0) + 1);
  }
  return counts;
}

function toVector(weights: ReadonlyMap<number, number>): SparseVector {
  const entries = [...weights].toSorted(([left], [right]) => left - right);
  return { indices: entries.map(([dimension]) => dimension), values: entries.map(([, weight]) => weight) };
}

/** A vector that is zero nearly everywhere. */
export interface SparseVector {
  /** Dimensions, ascending, each once: 1 … 999,999,999. */
  readonly indices: readonly number[];
  /** One for each index, finite and above zero. */
  readonly values: readonly number[];
}
