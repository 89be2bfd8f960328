/** Measures how long a search takes, in both stores on the same chunks, and whether both give the same answer. */
import { createSearch } from '../../../knowledge/search/create-search.ts';
import type { Search } from '../../../knowledge/search/search.ts';
import type { Collection } from '../../../store/index.ts';
import { interleave, load, type LoadResult } from '../harness/rounds.ts';
import { median, percentile } from '../harness/stats.ts';
import { duration, figure, type Table } from '../harness/table.ts';
import { index, readDocument } from './fill.ts';
import type { KnowledgeHost, Ranking } from './host.ts';
import type { KnowledgePart, KnowledgeScale } from './part.ts';
import { randomDimension, randomEmbedder } from './random-embedder.ts';
import { createTexts } from './texts.ts';
import { completeDocument } from '../../support/complete-document.ts';

const topK = 5;
const documentsInBase = 10;
const questionCount = 500;
/** Number of questions that every store is asked before anything is measured. */
const compared = 20;

/** One process in Python answers one search after the other: with many at once only its queue would be measured. */
const oneByOne = new Set(['milvus-lite']);

/** One line of the table. */
interface Contender {
  readonly store: string;
  readonly ranking: Ranking;
  readonly filtered: boolean;
  readonly inFlight: number;
}

export const search: KnowledgePart = async ({ host: startedHost, scale, progress }) => {
  const host = await startedHost();
  const stores = Object.keys(await host.vectorStores());
  const texts = createTexts(2);
  const questions = Array.from({ length: questionCount }, () => texts.question());
  const rankings: readonly Ranking[] = ['words', 'hybrid'];
  const bases = new Map<Ranking, Collection>();
  for (const ranking of rankings) bases.set(ranking, await fill(host, ranking, scale, progress));
  const searches = await searchesOf(host);
  const ask = async ({ store, ranking, filtered }: Omit<Contender, 'inFlight'>, query: string, at: number) =>
    searches.get(store)?.search({
      org: 'bench',
      knowledgeBase: bases.get(ranking)?.name ?? '',
      query,
      topK,
      ...(filtered && { filter: { part: `part-${at % documentsInBase}` } }),
    });

  const alike: Record<string, number> = {};
  for (const ranking of rankings) {
    let same = 0;
    for (const [at, question] of questions.slice(0, compared).entries()) {
      const answers: string[] = [];
      for (const store of stores) {
        const hits = await ask({ store, ranking, filtered: at % 2 === 0 }, question, at);
        answers.push(JSON.stringify(hits?.map(({ chunkId }) => chunkId)));
      }
      if (new Set(answers).size === 1) same += 1;
    }
    alike[ranking] = same / compared;
  }

  const contenders = [scale.concurrent, 1].flatMap((inFlight) =>
    [false, true].flatMap((filtered) =>
      rankings.flatMap((ranking) =>
        stores
          .filter((store) => inFlight === 1 || !oneByOne.has(store))
          .map((store): Contender => ({ store, ranking, filtered, inFlight })),
      ),
    ),
  );
  const results = await interleave({
    contenders: Object.fromEntries(
      contenders.map((contender) => [
        nameOf(contender),
        () =>
          load({
            inFlight: contender.inFlight,
            durationMs: scale.turnMs,
            request: async (at) => {
              const hits = await ask(contender, questions[at % questions.length] ?? '', at);
              if (hits === undefined) throw new Error('the knowledge base is gone');
            },
          }),
      ]),
    ),
    rounds: scale.rounds,
    onTurn: ({ contender, round }) => progress(`searching: ${contender}, round ${round}`),
  });
  return { figures: { alike, results: compact(results) }, tables: [toTable(contenders, results, { scale, alike, stores })] };
};

/** Writes the same chunks into every store: one knowledge base, whose vectors are written more than once. */
async function fill(host: KnowledgeHost, ranking: Ranking, scale: KnowledgeScale, progress: (line: string) => void): Promise<Collection> {
  const { store } = host;
  const collection = await host.collection({ org: 'bench', ranking });
  const texts = createTexts(3);
  for (let part = 0; part < documentsInBase; part += 1) {
    progress(`${ranking}: filling ${((part + 1) * scale.chunks) / documentsInBase} of ${scale.chunks} chunks in`);
    const metadata = { part: `part-${part}` };
    const document = await readDocument({ store, collection, chunks: scale.chunks / documentsInBase, texts, metadata });
    for (const vectors of Object.values(await host.vectorStores())) await index({ store, vectors }, { collection, document });
    await completeDocument(store.knowledge, document);
  }
  return collection;
}

async function searchesOf(host: KnowledgeHost): Promise<ReadonlyMap<string, Search>> {
  const embedderOf = ({ dimension }: { readonly dimension: number }) => (dimension === 0 ? undefined : randomEmbedder);
  const stores = Object.entries(await host.vectorStores());
  return new Map(stores.map(([name, vectors]) => [name, createSearch({ knowledge: host.store.knowledge, vectors, embedderOf })]));
}

function nameOf({ store, ranking, filtered, inFlight }: Contender): string {
  return `${store}, ${ranking}, ${inFlight} at once${filtered ? ', filtered' : ''}`;
}

const latencies = (rounds: readonly LoadResult[]): readonly number[] => rounds.flatMap(({ latenciesMs }) => latenciesMs);
const perSecond = (rounds: readonly LoadResult[]): number =>
  median(rounds.map(({ requests, elapsedMs }) => (requests / elapsedMs) * 1_000));
/** Takes the median over the rounds: one that was disturbed doesn't count. */
const middle = (rounds: readonly LoadResult[], p: number): number => median(rounds.map(({ latenciesMs }) => percentile(latenciesMs, p)));

function compact(results: Readonly<Record<string, readonly LoadResult[]>>): unknown {
  const ofRound = ({ requests, elapsedMs, latenciesMs }: LoadResult) => ({
    requests,
    elapsedMs,
    p50: percentile(latenciesMs, 50),
    p95: percentile(latenciesMs, 95),
    p99: percentile(latenciesMs, 99),
    max: percentile(latenciesMs, 100),
  });
  return Object.fromEntries(Object.entries(results).map(([name, rounds]) => [name, rounds.map(ofRound)]));
}

function toTable(
  contenders: readonly Contender[],
  results: Readonly<Record<string, readonly LoadResult[]>>,
  {
    scale,
    alike,
    stores,
  }: { readonly scale: KnowledgeScale; readonly alike: Readonly<Record<string, number>>; readonly stores: readonly string[] },
): Table {
  return {
    title: `Search in ${figure(scale.chunks)} chunks`,
    columns: ['', 'searches/s', 'p50', 'p95', 'p99', 'searches'],
    rows: contenders.map((contender) => {
      const rounds = results[nameOf(contender)] ?? [];
      return [
        nameOf(contender),
        figure(perSecond(rounds)),
        duration(middle(rounds, 50)),
        duration(middle(rounds, 95)),
        duration(middle(rounds, 99)),
        figure(latencies(rounds).length),
      ];
    }),
    notes: [
      `The ${topK} best hits with their texts, as the api role finds them: Postgres, vector store, Postgres; without HTTP. Questions of 3 to 9 words; a filter leaves a tenth of the chunks.`,
      'A closed loop: each lane asks again as soon as it has its answer. The process that asks, the stores and Postgres share the cores. Percentiles are medians of those of the rounds.',
      `hybrid: words and vectors of ${randomDimension} dimensions by chance, compared one by one; no model is part of it.`,
      ...(stores.length > 1
        ? [
            `The same hits in the same order from both stores: ${Object.entries(alike)
              .map(([ranking, share]) => `${ranking} ${(share * 100).toFixed(0)} %`)
              .join(', ')} of ${compared} questions.`,
          ]
        : []),
    ],
  };
}
