/** Passages in memory, ranked by going through all of them: what tests and benchmarks compare stores with. */
import { termsOf } from '../../knowledge/lexical/terms.ts';
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
  /** Best first, ties by id; passages that share no term with the query are left out. */
  search(query: string, topK: number): readonly RankedPassage[];
  /** The query as a vector, with the frequencies of these passages. */
  queryVector(query: string): SparseVector;
  /** In the order of the passages. */
  readonly vectors: readonly SparseVector[];
}

/** @param language BCP 47, as for {@link termsOf} */
export function exactIndex(passages: readonly Passage[], language?: string): ExactIndex {
  const terms = passages.map((passage) => termsOf(passage.text, language));
  const frequencies = new Map<number, number>();
  for (const list of terms) for (const dimension of dimensionsOf(list)) frequencies.set(dimension, (frequencies.get(dimension) ?? 0) + 1);
  const vectors = terms.map((list) => documentVector(list));
  const toQuery = (query: string): SparseVector =>
    queryVector(termsOf(query, language), {
      documentCount: passages.length,
      frequencyOf: (dimension) => frequencies.get(dimension) ?? 0,
      language,
    });
  return {
    vectors,
    queryVector: toQuery,
    search(query, topK) {
      const vector = toQuery(query);
      const weights = new Map(vector.indices.map((dimension, position) => [dimension, vector.values[position] ?? 0]));
      return passages
        .map(({ id }, position) => ({ id, score: innerProduct(weights, vectors[position]) }))
        .filter(({ score }) => score > 0)
        .toSorted((left, right) => right.score - left.score || (left.id < right.id ? -1 : 1))
        .slice(0, topK);
    },
  };
}

function innerProduct(weights: ReadonlyMap<number, number>, vector: SparseVector | undefined): number {
  let sum = 0;
  vector?.indices.forEach((dimension, position) => {
    sum += (weights.get(dimension) ?? 0) * (vector.values[position] ?? 0);
  });
  return sum;
}
