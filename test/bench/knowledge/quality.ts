/** Measures how well the right passages are found: our chunks, terms and sparse vectors against textbook BM25. */
import { readFile } from 'node:fs/promises';

import snowball from 'snowball-stemmers';

import { chunkBlocks } from '../../../knowledge/chunking/chunk-blocks.ts';
import type { Embedder } from '../../../knowledge/embedding/embedder.ts';
import { exactIndex } from '../../support/exact-index.ts';
import type { Table } from '../harness/table.ts';
import { layouts, readCollection, type TestCollection } from './collections.ts';
import { configuredEmbedder, hybridIndex } from './hybrid.ts';
import type { KnowledgePart } from './part.ts';
import { PUBLISHED, readPublicSets } from './public-sets.ts';
import { readFaqSets } from './faq-set.ts';
import { ndcg, recall, reciprocalRank } from './ranking-quality.ts';
import { measureSnippets, snippetTable, type SnippetQuality } from './snippet-quality.ts';
import { spoken } from './spoken-frames.ts';
import { textbookBm25, wordsAsWritten, type Tokenize } from './textbook-bm25.ts';

const depth = 10;
const recallDepth = 100;

/** Least nDCG@10 that the offline ranking has to reach. */
const wanted: Readonly<Record<string, number>> = { Cranfield: 0.5, CISI: 0.36, CACM: 0.48 };

interface Quality {
  readonly collection: string;
  readonly passages: number;
  readonly chunks: number;
  readonly questions: number;
  readonly ours: number;
  readonly oursReciprocalRank: number;
  readonly oursRecall: number;
  /** nDCG@10 of the questions as they are spoken; undefined in languages without frames. */
  readonly spoken: number | undefined;
  /** nDCG@10 with the configured embedding profile. */
  readonly hybrid: number | undefined;
  /** Undefined for languages that Porter's stems are not for. */
  readonly stemmed: number | undefined;
  readonly plain: number;
}

/** Returns {@link recallDepth} ids, the best first. */
type Rank = (query: string) => readonly string[] | Promise<readonly string[]>;

/** @throws Error when there is no folder of collections, or none of them in it */
export const quality: KnowledgePart = async ({ flags, progress }) => {
  const dataFolder = flags.data ?? process.env['BENCH_DATA'];
  if (dataFolder === undefined) throw new Error('the test collections are missing: set BENCH_DATA to their folder, or give --data');
  const figures: Quality[] = [];
  const snippets: SnippetQuality[] = [];
  const embedder = configuredEmbedder(process.env);
  const run = async (collection: TestCollection): Promise<void> => {
    progress(`${collection.name}: ${collection.passages.length} passages, ${collection.queries.length} questions`);
    figures.push(await measure(collection, embedder));
    const shown = await measureSnippets(collection);
    if (shown !== undefined) snippets.push(shown);
  };
  const own = [await banglaHelpDesk(), ...(await compoundSentences())];
  for (const collection of own) await run(collection);
  for (const layout of layouts) {
    const collection = await readCollection(dataFolder, layout);
    if (collection === undefined) progress(`${layout.name} is not in ${dataFolder}`);
    else await run(collection);
  }
  for (const collection of [...(await readFaqSets(dataFolder)), ...(await readPublicSets(dataFolder))]) await run(collection);
  if (figures.length === own.length)
    throw new Error(`none of the test collections is in ${dataFolder}; see docs/benchmarks.md for their files`);
  return { figures: { ranking: figures, snippets }, tables: [toTable(figures), snippetTable(snippets)] };
};

/** Reads the set of the repository; its passages are the answers. */
async function banglaHelpDesk(): Promise<TestCollection> {
  const { passages, questions } = JSON.parse(
    await readFile(new URL('../../../knowledge/lexical/testdata/bangla.json', import.meta.url), 'utf8'),
  ) as {
    readonly passages: TestCollection['passages'];
    readonly questions: readonly { readonly question: string; readonly passage: string }[];
  };
  const textOf = new Map(passages.map(({ id, text }) => [id, text]));
  return {
    name: 'Bangla help desk',
    language: 'bn',
    passages,
    queries: questions.map(({ question, passage }, position) => ({
      id: String(position),
      text: question,
      relevant: new Map([[passage, 1]]),
      answers: [textOf.get(passage) ?? ''],
    })),
  };
}

/** Reads our sentences in languages that write compounds as one word. */
async function compoundSentences(): Promise<readonly TestCollection[]> {
  const sets = JSON.parse(
    await readFile(new URL('../../../knowledge/lexical/testdata/compounds.json', import.meta.url), 'utf8'),
  ) as Readonly<
    Record<string, { readonly passages: readonly string[]; readonly questions: readonly (readonly [question: string, passage: number])[] }>
  >;
  return Object.entries(sets).map(([language, { passages, questions }]) => ({
    name: `Compounds ${language}`,
    language,
    passages: passages.map((text, position) => ({ id: String(position), text })),
    queries: questions.map(([text, passage], position) => ({ id: String(position), text, relevant: new Map([[String(passage), 1]]) })),
  }));
}

async function measure(collection: TestCollection, embedder: Embedder | undefined): Promise<Quality> {
  const { rank, hybrid, chunks } = await ours(collection, embedder);
  const rankings = await rankAll(collection, rank);
  const of = (all: readonly (readonly string[])[], measureOf: typeof ndcg, at: number): number =>
    collection.queries.reduce((sum, { relevant }, position) => sum + measureOf(all[position] ?? [], relevant, at), 0) /
    collection.queries.length;
  const heard = collection.queries.map((query, position) => ({ ...query, text: spoken(query.text, position, collection.language) ?? '' }));
  const isSpoken = spoken('', 0, collection.language) !== undefined;
  const stemmed = textbookBm25(collection.passages, porterStems());
  const plain = textbookBm25(collection.passages, wordsAsWritten);
  return {
    collection: collection.name,
    passages: collection.passages.length,
    chunks,
    questions: collection.queries.length,
    ours: of(rankings, ndcg, depth),
    oursReciprocalRank: of(rankings, reciprocalRank, depth),
    oursRecall: of(rankings, recall, recallDepth),
    spoken: isSpoken ? of(await rankAll({ ...collection, queries: heard }, rank), ndcg, depth) : undefined,
    hybrid: hybrid && of(await rankAll(collection, hybrid), ndcg, depth),
    stemmed: collection.language === 'en' ? of(await rankAll(collection, (query) => stemmed(query, depth)), ndcg, depth) : undefined,
    plain: of(await rankAll(collection, (query) => plain(query, depth)), ndcg, depth),
  };
}

/** Ranks as a knowledge base does: cut into chunks, and each document where its best chunk is. */
async function ours(
  { passages, language }: TestCollection,
  embedder: Embedder | undefined,
): Promise<{ readonly rank: Rank; readonly hybrid: Rank | undefined; readonly chunks: number }> {
  const chunks: { readonly id: string; readonly text: string }[] = [];
  for (const { id, text } of passages) {
    const blocks = text.trim() === '' ? [] : [{ kind: 'paragraph' as const, text, headingPath: [] }];
    for await (const { ordinal, indexedText } of chunkBlocks(blocks, { language }))
      chunks.push({ id: `${id}:${ordinal}`, text: indexedText });
  }
  const index = exactIndex(chunks, language);
  const meaning = embedder && (await hybridIndex(chunks, index, embedder));
  return {
    chunks: chunks.length,
    rank: (query) => documentsOf(index.search(query, recallDepth * 2).map(({ id }) => id)),
    hybrid: meaning && (async (query) => documentsOf(await meaning(query, recallDepth * 2))),
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

/** Ranks each document where its best chunk is. Ids of documents may have colons of their own. */
function documentsOf(chunks: readonly string[]): readonly string[] {
  return [...new Set(chunks.map((id) => id.slice(0, id.lastIndexOf(':'))))].slice(0, recallDepth);
}

async function rankAll({ queries }: TestCollection, rank: Rank): Promise<readonly (readonly string[])[]> {
  const rankings: (readonly string[])[] = [];
  for (const { text } of queries) rankings.push(await rank(text));
  return rankings;
}

function toTable(figures: readonly Quality[]): Table {
  return {
    title: 'Quality of the offline ranking',
    columns: [
      'collection',
      'passages',
      'chunks',
      'questions',
      'nDCG@10',
      'spoken',
      'at least',
      'published BM25',
      'BM25, Porter stems',
      'BM25, plain words',
      'hybrid',
      'recall@100',
      'published',
      'MRR@10',
    ],
    rows: figures.map((row) => [
      row.collection,
      String(row.passages),
      String(row.chunks),
      String(row.questions),
      row.ours.toFixed(3),
      row.spoken?.toFixed(3) ?? '–',
      wanted[row.collection]?.toFixed(2) ?? '–',
      PUBLISHED[row.collection]?.ndcg.toFixed(3) ?? '–',
      row.stemmed?.toFixed(3) ?? '–',
      row.plain.toFixed(3),
      row.hybrid?.toFixed(3) ?? '–',
      row.oursRecall.toFixed(3),
      PUBLISHED[row.collection]?.recall.toFixed(3) ?? '–',
      row.oursReciprocalRank.toFixed(3),
    ]),
    notes: [
      'nDCG@10 with the grades of the collection as gains, one where it has none; 1 is perfect.',
      'Published: BM25 of Anserini over title and text, the figures of BM25 in BEIR (Thakur et al., 2021).',
      'Spoken: in lower case, without punctuation, with a greeting, a reason for the call or thanks around the question.',
      'Exact search through all vectors: a store that approximates can only do as well or worse.',
      'Both BM25 columns are textbook BM25 (k1 1.2, b 0.75) over whole documents.',
    ],
  };
}
