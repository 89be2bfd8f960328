import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { testFolder } from '../../support/folders.ts';
import { readJudgements, readRecords } from './collections.ts';
import { readPublicSets, readQrels } from './public-sets.ts';
import { ndcg, recall, reciprocalRank } from './ranking-quality.ts';
import { textbookBm25, wordsAsWritten } from './textbook-bm25.ts';

describe('measures', () => {
  it('is 1 for the best ranking, 0 for none, and less the later the right ones come', () => {
    const relevant = new Map([
      ['a', 1],
      ['b', 1],
    ]);
    expect(ndcg(['a', 'b', 'c'], relevant, 10)).toBe(1);
    expect(ndcg(['c', 'd'], relevant, 10)).toBe(0);
    // (1/log2(3) + 1/log2(4)) / (1 + 1/log2(3))
    expect(ndcg(['c', 'a', 'b'], relevant, 10)).toBeCloseTo(0.6934, 4);
    expect(ndcg(['c', 'a'], relevant, 1)).toBe(0);
    expect(ndcg(['a'], new Map(), 10)).toBe(0);
    // Grades are gains: (1 + 3/log2(3)) / (3 + 1/log2(3))
    expect(ndcg(['a', 'b'], new Map([...relevant, ['b', 3]]), 10)).toBeCloseTo(0.7967, 4);
    expect(recall(['c', 'a', 'b'], relevant, 2)).toBe(0.5);
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
    expect([...judgements].map(([query, relevant]) => [query, [...relevant.keys()]])).toEqual([
      ['1', ['184', '29', '31']],
      ['2', ['28']],
    ]);
  });
});

it('reads public sets: BEIR folders with a language behind the dot, and files of XQuAD', async () => {
  const folder = testFolder();
  await mkdir(join(folder, 'faq.de', 'qrels'), { recursive: true });
  await mkdir(join(folder, 'no-set'));
  const lines = (...values: readonly object[]): string => values.map((value) => JSON.stringify(value)).join('\n');
  await writeFile(
    join(folder, 'faq.de', 'corpus.jsonl'),
    lines({ _id: 'a', title: 'Tor', text: 'Offen ab neun.' }, { _id: 7, text: 'Fluss' }),
  );
  await writeFile(join(folder, 'faq.de', 'queries.jsonl'), lines({ _id: 'q1', text: 'wann' }, { _id: 'unjudged', text: 'wo' }));
  await writeFile(join(folder, 'faq.de', 'qrels', 'test.tsv'), 'query-id\tcorpus-id\tscore\nq1\ta\t2\nq1\t7\t0\n');
  const paragraph = { context: 'The gate opens at nine.', qas: [{ id: 'x', question: 'When?', answers: [{ text: 'nine' }] }] };
  await writeFile(join(folder, 'xquad.en.json'), JSON.stringify({ data: [{ paragraphs: [paragraph] }] }));
  expect(await readPublicSets(folder)).toEqual([
    {
      name: 'faq.de',
      language: 'de',
      passages: [
        { id: 'a', text: 'Tor\nOffen ab neun.' },
        { id: '7', text: 'Fluss' },
      ],
      queries: [{ id: 'q1', text: 'wann', relevant: new Map([['a', 2]]) }],
    },
    {
      name: 'xquad.en',
      language: 'en',
      passages: [{ id: '0', text: 'The gate opens at nine.' }],
      queries: [{ id: 'x', text: 'When?', relevant: new Map([['0', 1]]), answers: ['nine'] }],
    },
  ]);
  expect(readQrels('q\td\t1').get('q')).toEqual(new Map([['d', 1]]));
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
