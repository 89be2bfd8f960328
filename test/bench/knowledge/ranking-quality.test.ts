import { describe, expect, it } from 'vitest';

import { readJudgements, readRecords } from './collections.ts';
import { ndcg, reciprocalRank } from './ranking-quality.ts';
import { textbookBm25, wordsAsWritten } from './textbook-bm25.ts';

describe('measures', () => {
  it('is 1 for the best ranking, 0 for none, and less the later the right ones come', () => {
    const relevant = new Set(['a', 'b']);
    expect(ndcg(['a', 'b', 'c'], relevant, 10)).toBe(1);
    expect(ndcg(['c', 'd'], relevant, 10)).toBe(0);
    // (1/log2(3) + 1/log2(4)) / (1 + 1/log2(3))
    expect(ndcg(['c', 'a', 'b'], relevant, 10)).toBeCloseTo(0.6934, 4);
    expect(ndcg(['c', 'a'], relevant, 1)).toBe(0);
    expect(ndcg(['a'], new Set(), 10)).toBe(0);
    expect(reciprocalRank(['c', 'a', 'b'], relevant, 10)).toBe(0.5);
    expect(reciprocalRank(['c', 'a'], relevant, 1)).toBe(0);
  });
});

describe('the files of the collections', () => {
  it('are read by records and fields', () => {
    const records = readRecords('.I 1\n.T\nA title\n.A\nSomeone\n.W\nFirst line\nsecond line\n.I 002\n.T \nAnother\n');
    expect(records.map(({ id, fields }) => [id, Object.fromEntries(fields)])).toEqual([
      ['1', { '.T': 'A title\n', '.A': 'Someone\n', '.W': 'First line\nsecond line\n' }],
      ['2', { '.T': 'Another\n\n' }],
    ]);
  });

  it('have judgements in columns of any width', () => {
    const judgements = readJudgements('1 184 2 \n1 29 -1\n     2     28\t0\t0.000000\n01 0031 0 0\n\n');
    expect([...judgements].map(([query, relevant]) => [query, [...relevant]])).toEqual([
      ['1', ['184', '29', '31']],
      ['2', ['28']],
    ]);
  });
});

it('ranks by the textbook: rare words first, short passages before long ones', () => {
  const rank = textbookBm25(
    [
      { id: 'long', text: 'red apple in a very long list of many other things' },
      { id: 'short', text: 'red apple' },
      { id: 'rare', text: 'red quince' },
      { id: 'none', text: 'blue sky' },
    ],
    wordsAsWritten,
  );
  expect(rank('apple', 10)).toEqual(['short', 'long']);
  expect(rank('red quince', 1)).toEqual(['rare']);
  expect(rank('nothing', 10)).toEqual([]);
});
