/** How well the right passages are found: our chunks, terms and sparse vectors against textbook BM25. */
import snowball from 'snowball-stemmers';

import { chunkBlocks } from '../../../knowledge/chunking/chunk-blocks.ts';
import { exactIndex } from '../../support/exact-index.ts';
import type { Table } from '../harness/table.ts';
import { layouts, readCollection, type Collection } from './collections.ts';
import type { Part } from './part.ts';
import { ndcg, reciprocalRank } from './ranking-quality.ts';
import { textbookBm25, wordsAsWritten, type Tokenize } from './textbook-bm25.ts';

const depth = 10;

/** What the offline ranking has to reach at least, as nDCG@10. */
const wanted: Readonly<Record<string, number>> = { Cranfield: 0.5, CISI: 0.36, CACM: 0.48 };

interface Quality {
  readonly collection: string;
  readonly passages: number;
  readonly chunks: number;
  readonly questions: number;
  readonly ours: number;
  readonly oursReciprocalRank: number;
  readonly stemmed: number;
  readonly plain: number;
}

type Rank = (query: string) => readonly string[];

/** @throws Error when there is no folder of collections, or none of them in it */
export const quality: Part = async ({ dataFolder, progress }) => {
  if (dataFolder === undefined) throw new Error('the test collections are missing: set BENCH_DATA to their folder, or give --data');
  const figures: Quality[] = [];
  for (const layout of layouts) {
    const collection = await readCollection(dataFolder, layout);
    if (collection === undefined) progress(`${layout.name} is not in ${dataFolder}`);
    else {
      progress(`${layout.name}: ${collection.passages.length} passages, ${collection.queries.length} questions`);
      figures.push(await measure(collection));
    }
  }
  if (figures.length === 0) throw new Error(`none of the test collections is in ${dataFolder}; see docs/benchmarks.md for their files`);
  return { figures, tables: [toTable(figures)] };
};

async function measure(collection: Collection): Promise<Quality> {
  const { rank, chunks } = await ours(collection);
  const stemmed = textbookBm25(collection.passages, porterStems());
  const plain = textbookBm25(collection.passages, wordsAsWritten);
  return {
    collection: collection.name,
    passages: collection.passages.length,
    chunks,
    questions: collection.queries.length,
    ours: mean(collection, rank, ndcg),
    oursReciprocalRank: mean(collection, rank, reciprocalRank),
    stemmed: mean(collection, (query) => stemmed(query, depth), ndcg),
    plain: mean(collection, (query) => plain(query, depth), ndcg),
  };
}

/** As in a knowledge base: cut into chunks, and each document where its best chunk is. */
async function ours({ passages }: Collection): Promise<{ readonly rank: Rank; readonly chunks: number }> {
  const chunks: { readonly id: string; readonly text: string }[] = [];
  for (const { id, text } of passages) {
    const blocks = text.trim() === '' ? [] : [{ kind: 'paragraph' as const, text, headingPath: [] }];
    for await (const { ordinal, indexedText } of chunkBlocks(blocks, { language: 'en' }))
      chunks.push({ id: `${id}:${ordinal}`, text: indexedText });
  }
  const index = exactIndex(chunks, 'en');
  return {
    chunks: chunks.length,
    rank: (query) => [...new Set(index.search(query, depth * 10).map(({ id }) => id.split(':')[0] ?? ''))].slice(0, depth),
  };
}

function porterStems(): Tokenize {
  const stemmer = snowball.newStemmer('porter');
  const known = new Map<string, string>();
  return (text) =>
    wordsAsWritten(text).map((word) => {
      const stem = known.get(word) ?? stemmer.stem(word);
      known.set(word, stem);
      return stem;
    });
}

function mean({ queries }: Collection, rank: Rank, measureOf: typeof ndcg): number {
  return queries.reduce((sum, { text, relevant }) => sum + measureOf(rank(text), relevant, depth), 0) / queries.length;
}

function toTable(figures: readonly Quality[]): Table {
  return {
    title: 'Quality of the offline ranking',
    columns: ['collection', 'passages', 'chunks', 'questions', 'nDCG@10', 'at least', 'BM25, Porter stems', 'BM25, plain words', 'MRR@10'],
    rows: figures.map((row) => [
      row.collection,
      String(row.passages),
      String(row.chunks),
      String(row.questions),
      row.ours.toFixed(3),
      wanted[row.collection]?.toFixed(2) ?? '–',
      row.stemmed.toFixed(3),
      row.plain.toFixed(3),
      row.oursReciprocalRank.toFixed(3),
    ]),
    notes: [
      'nDCG@10 with a gain of one for every document that the collection lists as relevant; 1 is perfect.',
      'Exact search through all vectors: a store that approximates can only do as well or worse.',
      'Both BM25 columns are textbook BM25 (k1 1.2, b 0.75) over whole documents.',
    ],
  };
}
