/** How long it takes until chunks that have been read can be found. */
import { interleave } from '../harness/rounds.ts';
import { median, percentile } from '../harness/stats.ts';
import { duration, figure, times } from '../harness/table.ts';
import { index, readDocument } from './fill.ts';
import type { Ranking } from './host.ts';
import type { KnowledgePart } from './part.ts';
import { randomDimension } from './random-embedder.ts';
import { createTexts } from './texts.ts';

export const indexing: KnowledgePart = async ({ host: startedHost, scale, progress }) => {
  const host = await startedHost();
  const stores = Object.entries(await host.vectorStores());
  const rankings: readonly Ranking[] = ['words', 'hybrid'];
  const texts = createTexts(1);
  const contenders = Object.fromEntries(
    rankings.flatMap((ranking) =>
      stores.map(([name, vectors]) => [
        `${name}, ${ranking}`,
        async () => {
          const collection = await host.collection({ org: 'bench', ranking });
          const document = await readDocument({ store: host.store, collection, chunks: scale.indexedChunks, texts });
          return index({ store: host.store, vectors }, { collection, document });
        },
      ]),
    ),
  );
  const results = await interleave({
    contenders,
    rounds: scale.rounds,
    onTurn: ({ contender, round }) => progress(`indexing ${scale.indexedChunks} chunks: ${contender}, round ${round}`),
  });
  const first = results[Object.keys(contenders)[0] ?? ''] ?? [];
  return {
    figures: results,
    tables: [
      {
        title: `Indexing ${figure(scale.indexedChunks)} chunks`,
        columns: ['store, ranking', 'median', 'slowest', 'chunks/s', 'against the first'],
        rows: Object.entries(results).map(([name, ms]) => [
          name,
          duration(median(ms)),
          duration(percentile(ms, 100)),
          figure((scale.indexedChunks / median(ms)) * 1_000),
          times(median(ms) / median(first)),
        ]),
        notes: [
          'From chunks in Postgres to an answer of the store that finds the first and the last one: terms, weights, writing, asking.',
          `hybrid: with vectors of ${randomDimension} dimensions in addition, random; no model is part of it.`,
        ],
      },
    ],
  };
};
