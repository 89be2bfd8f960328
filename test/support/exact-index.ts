/** Ranks all passages in memory: tests and benchmarks compare stores with it. */
import { allTerms, passageTerms } from '../../knowledge/lexical/passage.ts';
import { readQuestion } from '../../knowledge/lexical/question.ts';
import { dimensionsOf, documentVector, queryVector, type SparseVector } from '../../knowledge/lexical/vectors.ts';

export interface Passage {
  readonly id: string;
  readonly text: string;
}

export interface RankedPassage {
  readonly id: string;
  readonly score: number;
}

export interface ExactIndex {
  /** Ranks passages, best first, ties by id; passages that share no term with the query are left out. */
  search(query: string, topK: number): readonly RankedPassage[];
  /** Returns the query as a vector, with the frequencies of these passages. */
  queryVector(query: string): SparseVector;
  /** Vectors in the order of the passages. */
  readonly vectors: readonly SparseVector[];
}

/** @param language language of the passages, BCP 47 */
export function exactIndex(passages: readonly Passage[], language?: string): ExactIndex {
  const terms = passages.map((passage) => passageTerms(passage.text, language));
  const frequencies = new Map<number, number>();
  for (const list of terms)
    for (const dimension of dimensionsOf(allTerms(list))) frequencies.set(dimension, (frequencies.get(dimension) ?? 0) + 1);
  const vectors = terms.map((list) => documentVector(list));
  const postings = new Map<number, { readonly position: number; readonly weight: number }[]>();
  for (const [position, { indices, values }] of vectors.entries())
    for (const [at, dimension] of indices.entries()) {
      const entry = { position, weight: values[at] ?? 0 };
      const list = postings.get(dimension);
      if (list === undefined) postings.set(dimension, [entry]);
      else list.push(entry);
    }
  const toQuery = (query: string): SparseVector =>
    queryVector(readQuestion(query, language), {
      documentCount: passages.length,
      frequencyOf: (dimension) => frequencies.get(dimension) ?? 0,
    });
  return {
    vectors,
    queryVector: toQuery,
    search(query, topK) {
      const { indices, values } = toQuery(query);
      const scores = new Map<number, number>();
      for (const [at, dimension] of indices.entries())
        for (const { position, weight } of postings.get(dimension) ?? [])
          scores.set(position, (scores.get(position) ?? 0) + weight * (values[at] ?? 0));
      return [...scores]
        .map(([position, score]) => ({ id: passages[position]?.id ?? '', score }))
        .toSorted((left, right) => right.score - left.score || (left.id < right.id ? -1 : 1))
        .slice(0, topK);
    },
  };
}
