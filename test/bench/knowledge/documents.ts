/** Measures whole documents through a worker, from their upload to `completed`. */
import { makePdf } from '../../support/documents/make-pdf.ts';
import type { Collection } from '../../../store/index.ts';
import { forEachOf } from '../harness/rounds.ts';
import { median, percentile } from '../harness/stats.ts';
import { duration, figure, times } from '../harness/table.ts';
import type { KnowledgePart } from './part.ts';
import { createTexts, type Texts } from './texts.ts';
import { startWorker, type File, type Worker } from './worker.ts';

interface Done {
  readonly ms: number;
  readonly chunks: number;
}

async function ingest(worker: Worker, to: Collection, file: File): Promise<Done> {
  const startedAt = performance.now();
  const id = await worker.add(to, file);
  const { document, at } = await worker.ended(to, id);
  return { ms: at - startedAt, chunks: document.chunkCount };
}

/** Waits for one after the other: a hundred that look would be a load of their own. */
async function lastEnd(worker: Worker, documents: readonly { readonly collection: Collection; readonly id: string }[]): Promise<number> {
  let last = 0;
  for (const { collection, id } of documents) last = Math.max(last, (await worker.ended(collection, id)).at);
  return last;
}

/** Makes a text in paragraphs, of about so many bytes. */
function textFile(name: string, bytes: number, texts: Texts): File {
  const paragraphs: string[] = [];
  for (let size = 0; size < bytes;) {
    const next = texts.passage(80);
    paragraphs.push(next);
    size += next.length + 2;
  }
  return { name, content: Buffer.from(paragraphs.join('\n\n').slice(0, bytes)) };
}

/** Makes a report: on each page a header, a heading, 44 lines and a number. */
function reportOf(pages: number, texts: Texts): File {
  const page = (number: number) => [
    { text: 'Report of the bench', y: 810, size: 8 },
    { text: `Chapter ${number + 1}`, y: 780, size: 16 },
    ...Array.from({ length: 44 }, (_, line) => ({ text: texts.passage(12).slice(0, 88), y: 750 - line * 15 })),
    { text: String(number + 1), x: 290, y: 40, size: 8 },
  ];
  return { name: 'report.pdf', content: makePdf(Array.from({ length: pages }, (_, number) => page(number))) };
}

export const pdf: KnowledgePart = async ({ host: startedHost, scale, progress }) => {
  const host = await startedHost();
  const worker = await startWorker(host, progress);
  try {
    const texts = createTexts(4);
    const collection = await host.collection({ org: 'bench', ranking: 'words' });
    const file = reportOf(scale.pages, texts);
    const done: Done[] = [];
    for (let round = -1; round < scale.rounds; round += 1) {
      progress(`a PDF of ${scale.pages} pages, round ${round}`);
      const result = await ingest(worker, collection, file);
      if (round >= 0) done.push(result);
    }
    const ms = done.map((result) => result.ms);
    return {
      figures: { bytes: file.content.length, done },
      tables: [
        {
          title: `A PDF of ${figure(scale.pages)} pages, from upload to completed`,
          columns: ['', 'median', 'slowest', 'pages/s', 'chunks'],
          rows: [
            [
              `${figure(file.content.length / 1e6)} MB`,
              duration(median(ms)),
              duration(percentile(ms, 100)),
              figure((scale.pages / median(ms)) * 1_000),
              figure(done[0]?.chunks),
            ],
          ],
          notes: ['44 lines of text a page, a heading, a header and a page number; no pictures.'],
        },
      ],
    };
  } finally {
    await worker.stop();
  }
};

const bigBytes = 2_000_000;
const smallBytes = 10_000;

export const queue: KnowledgePart = async ({ host: startedHost, scale, progress }) => {
  const host = await startedHost();
  const worker = await startWorker(host, progress);
  try {
    const texts = createTexts(5);
    const quiet = await host.collection({ org: 'bench', ranking: 'words' });
    const greedy = await host.collection({ org: 'greedy', ranking: 'words' });
    const small = () => textFile('small.txt', smallBytes, texts);
    await ingest(worker, quiet, small());
    const alone: number[] = [];
    const behind: number[] = [];
    const bigMs: number[] = [];
    const left: number[] = [];
    let chunks = 0;
    for (let round = 0; round < scale.rounds; round += 1) {
      progress(`10 KB alone, then next to ${scale.bigFiles} files of 2 MB, round ${round}`);
      alone.push((await ingest(worker, quiet, small())).ms);
      const startedAt = performance.now();
      const ids = await Promise.all(
        Array.from({ length: scale.bigFiles }, (_, number) => worker.add(greedy, textFile(`big-${number}.txt`, bigBytes, texts))),
      );
      behind.push((await ingest(worker, quiet, small())).ms);
      const { items } = await host.store.knowledge.documents.list({ org: 'greedy', collectionId: greedy.id, pageSize: 1_000 });
      left.push(items.filter(({ status }) => status === 'processing').length);
      const documents = ids.map((id) => ({ collection: greedy, id }));
      bigMs.push((await lastEnd(worker, documents)) - startedAt);
      chunks = (await host.store.knowledge.documents.list({ org: 'greedy', collectionId: greedy.id, pageSize: 1_000 })).items
        .filter(({ id }) => ids.includes(id))
        .reduce((sum, document) => sum + document.chunkCount, 0);
    }
    return {
      figures: { alone, behind, bigMs, left, chunks },
      tables: [
        {
          title: `10 KB while ${figure(scale.bigFiles)} files of 2 MB of another organisation queue`,
          columns: ['', 'median', 'slowest', 'big ones still at work'],
          rows: [
            ['alone', duration(median(alone)), duration(percentile(alone, 100)), '–'],
            [
              'behind them',
              duration(median(behind)),
              duration(percentile(behind, 100)),
              `${figure(percentile(left, 0))} of ${figure(scale.bigFiles)}`,
            ],
            ['behind / alone', times(median(behind) / median(alone)), '', ''],
            ['all of the big ones', duration(median(bigMs)), duration(percentile(bigMs, 100)), ''],
          ],
          notes: [
            `The big ones: ${figure((chunks / median(bigMs)) * 1_000)} chunks/s, ${figure((scale.bigFiles * bigBytes) / 1e3 / median(bigMs))} MB/s, in one knowledge base.`,
          ],
        },
      ],
    };
  } finally {
    await worker.stop();
  }
};

export const throughput: KnowledgePart = async ({ host: startedHost, scale, progress }) => {
  const host = await startedHost();
  const worker = await startWorker(host, progress);
  try {
    const texts = createTexts(6);
    const run = async (spread: number): Promise<number> => {
      const collections = await Promise.all(
        Array.from({ length: spread }, (_, number) => host.collection({ org: `bench-${number}`, ranking: 'words' })),
      );
      const startedAt = performance.now();
      const ids: { readonly collection: Collection; readonly id: string }[] = [];
      await forEachOf(
        Array.from({ length: scale.smallFiles }, (_, number) => number),
        8,
        async (number) => {
          const collection = collections[number % spread];
          if (collection === undefined) throw new Error('there is no knowledge base');
          ids.push({ collection, id: await worker.add(collection, textFile(`note-${number}.txt`, smallBytes, texts)) });
        },
      );
      return (await lastEnd(worker, ids)) - startedAt;
    };
    await run(1);
    const one: number[] = [];
    const many: number[] = [];
    for (let round = 0; round < scale.rounds; round += 1) {
      progress(`${scale.smallFiles} files of 10 KB, round ${round}`);
      one.push(await run(1));
      many.push(await run(10));
    }
    const row = (name: string, ms: readonly number[]): readonly string[] => [
      name,
      duration(median(ms)),
      duration(percentile(ms, 100)),
      figure((scale.smallFiles / median(ms)) * 1_000),
    ];
    return {
      figures: { one, many },
      tables: [
        {
          title: `${figure(scale.smallFiles)} files of 10 KB, taken on at once`,
          columns: ['', 'median', 'slowest', 'documents/s'],
          rows: [row('in one knowledge base', one), row('in ten, of ten organisations', many)],
          notes: ['One worker with its defaults. Each document has six steps in Temporal, on the same machine.'],
        },
      ],
    };
  } finally {
    await worker.stop();
  }
};
