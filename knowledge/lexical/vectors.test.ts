import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { dimensionOf } from './dimension.ts';
import { exactIndex } from '../../test/support/exact-index.ts';
import { termsOf } from './terms.ts';
import { type PassageTerms, passageTerms } from './passage.ts';
import { readQuestion, type Question } from './question.ts';
import { documentVector, queryVector, REFERENCE_LENGTH, relevance, TERM_WEIGHT_LIMIT } from './vectors.ts';

const passage = (words: readonly string[], more: readonly string[] = []): PassageTerms => ({ words, more, inQuestions: new Set() });
const question = (asked: readonly string[]): Question => ({ ...readQuestion('', 'en'), asked });

const anyTerms = fc.array(fc.string({ minLength: 1, maxLength: 8 }), { maxLength: 60 });

describe('dimensions', () => {
  /** Stored vectors are made of these: they must never change. */
  it('hashes a term as it always has', () => {
    expect(['refund', 'পণ্য', '退款', 'ab1234', 'a', ''].map(dimensionOf)).toEqual([
      102131975, 273244204, 386019401, 588515101, 867108636, 1,
    ]);
  });

  it('stays within what a sparse vector can have', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (term) => {
        const dimension = dimensionOf(term);
        expect(Number.isInteger(dimension) && dimension >= 1 && dimension <= 999_999_999).toBe(true);
      }),
    );
  });

  it('spreads a hundred thousand terms', () => {
    const dimensions = new Set(Array.from({ length: 100_000 }, (_, index) => dimensionOf(`term${index}`)));
    expect(dimensions.size).toBeGreaterThan(99_950);
  });
});

describe('vectors', () => {
  it('is made of ascending dimensions and positive finite weights', () => {
    fc.assert(
      fc.property(anyTerms, (terms) => {
        const query = queryVector(question(terms), { documentCount: 10, frequencyOf: (dimension) => dimension % 14 });
        for (const vector of [documentVector(passage(terms)), query]) {
          expect(vector.indices).toEqual([...new Set(vector.indices)].toSorted((left, right) => left - right));
          expect(vector.values.every((value) => Number.isFinite(value) && value > 0)).toBe(true);
          expect(vector.values).toHaveLength(vector.indices.length);
        }
      }),
    );
  });

  it('has the inner product that the formula of BM25 has', () => {
    const passages = ['red apple apple pie', 'green apple', 'blue sky over a red roof and a red door'];
    const lists = passages.map((text) => termsOf(text, 'en'));
    const query = ['red', 'appl'];
    const expected = lists.map((list) =>
      query.reduce((score, term) => {
        const frequency = lists.filter((other) => other.includes(term)).length;
        const occurrences = list.filter((other) => other === term).length;
        const idf = Math.log(1 + (lists.length - frequency + 0.5) / (frequency + 0.5));
        return score + (idf * occurrences * 2.2) / (occurrences + 1.2 * (0.25 + (0.75 * list.length) / REFERENCE_LENGTH));
      }, 0),
    );
    const index = exactIndex(
      passages.map((text, position) => ({ id: String(position), text })),
      'en',
    );
    for (const { id, score } of index.search('red apples', 3)) expect(score).toBeCloseTo(expected[Number(id)] ?? Number.NaN, 10);
    expect(index.search('red apples', 3)).toHaveLength(3);
  });

  it('gives function words of a question the less weight the more else it asks, and three tenths at most', () => {
    const options = { documentCount: 10, frequencyOf: () => 1 };
    const weightOf = (term: string, text: string, language: string): number => {
      const { indices, values } = queryVector(readQuestion(text, language), options);
      return values[indices.indexOf(dimensionOf(term))] ?? Number.NaN;
    };
    const long = Array.from({ length: 12 }, (_, index) => `word${'abcdefghijkl'[index]}`).join(' ');
    const heavy = weightOf('refund', 'refund', 'en');
    expect(weightOf('the', `the refund ${long}`, 'en')).toBeCloseTo((heavy * 0.3 * 4) / 13, 10);
    expect(weightOf('the', 'the refund', 'en')).toBeCloseTo(heavy * 0.3, 10);
    expect(weightOf('the', 'the refund', 'de')).toBeCloseTo(heavy, 10);
  });

  it('counts what is found besides the words, and takes the passage for no longer', () => {
    const bare = documentVector(passage(['apple', 'pie']));
    const { indices, values } = documentVector(passage(['apple', 'pie'], ['~app']));
    expect(values[indices.indexOf(dimensionOf('apple'))]).toBe(bare.values[bare.indices.indexOf(dimensionOf('apple'))]);
    expect(indices).toHaveLength(3);
  });

  it('weighs what the questions of a passage have by the same amount more, however often they have it', () => {
    const weightsOf = (text: string): ReadonlyMap<number, number> => {
      const { indices, values } = documentVector(passageTerms(text, 'en'));
      return new Map(indices.map((dimension, position) => [dimension, values[position] ?? 0]));
    };
    const asked = weightsOf('Parking or parking?\nBehind the house.');
    const told = weightsOf('Parking or parking.\nBehind the house.');
    const more = (term: string): number => (asked.get(dimensionOf(term)) ?? 0) - (told.get(dimensionOf(term)) ?? 0);
    expect(more('or')).toBeGreaterThan(0);
    expect(more('park')).toBeCloseTo(more('or'), 10);
    expect(more('hous')).toBe(0);
    expect(Math.max(...asked.values())).toBeLessThan(TERM_WEIGHT_LIMIT);
  });

  it('copes with an empty base, an empty passage and frequencies above the count', () => {
    expect(documentVector(passage([]))).toEqual({ indices: [], values: [] });
    expect(queryVector(question(['a', 'b']), { documentCount: 0, frequencyOf: () => 7 }).values.every((value) => value > 0)).toBe(true);
    expect(exactIndex([], 'en').search('anything', 5)).toEqual([]);
  });
});

describe('relevance', () => {
  it('lies between 0 and 1 and keeps the order of the scores', () => {
    const corpus = fc.array(fc.array(fc.constantFrom('ant', 'bee', 'cat', 'dog', 'eel'), { minLength: 1, maxLength: 20 }), {
      minLength: 1,
      maxLength: 10,
    });
    fc.assert(
      fc.property(corpus, (lists) => {
        const index = exactIndex(
          lists.map((words, position) => ({ id: String(position), text: words.join(' ') })),
          'en',
        );
        const query = index.queryVector('bee dog eel');
        const values = index.search('bee dog eel', 10).map(({ score }) => relevance(score, query));
        expect(values.every((value) => value > 0 && value < 1)).toBe(true);
        expect(values).toEqual(values.toSorted((left, right) => right - left));
      }),
    );
  });

  it('is 0 for a query without terms and for nothing found', () => {
    expect(relevance(3, { indices: [], values: [] })).toBe(0);
    expect(relevance(0, { indices: [1], values: [2] })).toBe(0);
  });
});
