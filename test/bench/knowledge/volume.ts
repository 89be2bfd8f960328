/** Measures many small files over REST, from the first upload until the last can be found, while others upload and search. */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { setTimeout as delay } from 'node:timers/promises';

import { createVectorStore } from '../../../knowledge/vector-stores/index.ts';
import type { Collection } from '../../../store/index.ts';
import { bundle, ensureBundle } from '../harness/bundle.ts';
import { ProcessSampler } from '../harness/process-sampler.ts';
import { treeCpuMs } from '../harness/process-tree.ts';
import { forEachOf, load } from '../harness/rounds.ts';
import { median, percentile } from '../harness/stats.ts';
import { duration, figure, times, type Table } from '../harness/table.ts';
import { index, readDocument } from './fill.ts';
import type { KnowledgePart, KnowledgeScale } from './part.ts';
import { createTexts, type Texts } from './texts.ts';
import { startRoles, type VolumeRoles } from './volume-roles.ts';
import { completeDocument } from '../../support/complete-document.ts';

/** Number of uploads under way at once. */
const uploadsAtOnce = 8;
const searchesMs = 5_000;
const documentsInLibrary = 10;
/** Number of files that are searched for when all are done, and whose histories are counted. */
const sampled = 20;

interface Load {
  /** Times since the first upload began, in milliseconds. */
  readonly firstMs: number;
  readonly uploadedMs: number;
  readonly lastMs: number;
  readonly workerRssBeforeBytes: number;
  readonly workerRssBytes: number;
  /** Processor time for one file, in milliseconds; the worker's with its parsers. */
  readonly cpuMs: Readonly<Record<Process, number>>;
}

type Process = 'worker' | 'api' | 'Postgres' | 'Temporal';

interface Volume {
  readonly many: Load;
  /** Times of another organisation's files meanwhile, each from its upload until it is found. */
  readonly othersMs: readonly number[];
  readonly aloneMs: number;
  readonly larger: Load;
  readonly searchAtRestP95: number;
  readonly searchMeanwhileP95: number;
  /** Times in the process of a call, without the api. */
  readonly callAtRestP95: number;
  readonly callMeanwhileP95: number;
  readonly searchesMeanwhile: number;
  readonly events: number;
  readonly activities: number;
}

export const volume: KnowledgePart = async ({ host: startedHost, scale, flags: { against }, progress }) => {
  await ensureBundle(progress);
  const host = await startedHost();
  const contenders: Record<string, string> = {
    ...(against !== undefined && { before: `${against}/dist/parley.mjs` }),
    now: bundle,
  };
  const results: Record<string, Volume[]> = Object.fromEntries(Object.keys(contenders).map((name) => [name, []]));
  for (let round = 0; round < scale.rounds; round += 1)
    for (const [name, path] of Object.entries(contenders)) {
      progress(`${name}, round ${round + 1} of ${scale.rounds}: starting the roles`);
      const roles = await startRoles(host, name, path);
      const cpuMs = (): Record<Process, number> => ({
        worker: treeCpuMs(roles.workerPid) ?? 0,
        api: treeCpuMs(roles.apiPid) ?? 0,
        Postgres: host.serverCpuMs('postgres') ?? 0,
        Temporal: host.serverCpuMs('temporal') ?? 0,
      });
      try {
        results[name]?.push(await measure({ roles, cpuMs }, scale, (line) => progress(`${name}: ${line}`)));
      } finally {
        await roles.stop();
      }
    }
  return { figures: results, tables: [toTable(results, scale)] };
};

interface Measured {
  readonly roles: VolumeRoles;
  readonly cpuMs: () => Record<Process, number>;
}

async function measure(measured: Measured, scale: KnowledgeScale, progress: (line: string) => void): Promise<Volume> {
  const { roles } = measured;
  const texts = createTexts(7);
  await fillLibrary(roles, scale, progress);
  for (const org of ['busy', 'other', 'tens']) await collectionOf(roles, org, 'base');
  const ask = async (): Promise<void> => void (await roles.search('reader', 'library', texts.question()));
  // Uploads one of everything, so that what is loaded when it is first used is loaded.
  await untilFound(roles, 'busy', await upload(roles, 'busy', texts, 'warmup', 1_000), 'warmup');
  progress('searching at rest');
  await load({ inFlight: 1, durationMs: searchesMs / 5, request: ask });
  const atRest = await load({ inFlight: 1, durationMs: searchesMs, request: ask });
  const call = startCall(roles.databaseUrl);
  await delay(searchesMs / 5);
  call.taken();
  await delay(searchesMs);
  const callAtRest = call.taken();
  const aloneAt = performance.now();
  await untilFound(roles, 'other', await upload(roles, 'other', texts, 'alone', 10_000), 'alone');
  const aloneMs = performance.now() - aloneAt;

  progress(`${scale.manyFiles} files of 1 KB`);
  const over = new AbortController();
  const othersMs: number[] = [];
  const others = (async () => {
    for (let turn = 0; !over.signal.aborted; turn += 1) {
      const startedAt = performance.now();
      await untilFound(roles, 'other', await upload(roles, 'other', texts, `other${turn}x`, 10_000), `other${turn}x`);
      othersMs.push(performance.now() - startedAt);
      await delay(1_000);
    }
  })();
  const meanwhile: number[] = [];
  const searching = (async () => {
    while (!over.signal.aborted) {
      const startedAt = performance.now();
      await ask();
      meanwhile.push(performance.now() - startedAt);
      await delay(20);
    }
  })();
  let many: Load;
  let ids: readonly string[];
  try {
    ({ took: many, ids } = await uploadAll(measured, 'busy', { files: scale.manyFiles, bytes: 1_000, word: 'many' }, texts));
  } finally {
    over.abort();
    call.stop();
    await Promise.all([others, searching]);
  }
  progress(`${scale.smallFiles} files of 10 KB`);
  const { took: larger } = await uploadAll(measured, 'tens', { files: scale.smallFiles, bytes: 10_000, word: 'tens' }, texts);
  const histories = await Promise.all(sample(ids).map((id) => roles.history(id)));
  return {
    many,
    othersMs,
    aloneMs,
    larger,
    searchAtRestP95: percentile(atRest.latenciesMs, 95),
    searchMeanwhileP95: percentile(meanwhile, 95),
    searchesMeanwhile: meanwhile.length,
    callAtRestP95: percentile(callAtRest, 95),
    callMeanwhileP95: percentile(call.taken(), 95),
    events: median(histories.map(({ events }) => events)),
    activities: median(histories.map(({ activities }) => activities)),
  };
}

/** Uploads all files, waits until each is completed, and finds a sample of them. @throws Error when one is not found */
async function uploadAll(
  { roles, cpuMs }: Measured,
  org: string,
  { files, bytes, word }: { readonly files: number; readonly bytes: number; readonly word: string },
  texts: Texts,
): Promise<{ readonly took: Load; readonly ids: readonly string[] }> {
  const worker = new ProcessSampler({ pid: roles.workerPid });
  const workerRssBeforeBytes = worker.use()?.rssLastBytes ?? 0;
  const contents = Array.from({ length: files }, (_, at) => ({
    name: `${word}-${at}.txt`,
    content: fileWith(`${word}${at}x`, bytes, texts),
  }));
  const ids: string[] = [];
  const before = cpuMs();
  const startedAt = performance.now();
  let firstMs = 0;
  const first = (async () => {
    while (ids[0] === undefined) await delay(5);
    await untilFound(roles, org, ids[0], `${word}0x`);
    firstMs = performance.now() - startedAt;
  })();
  await forEachOf(contents, uploadsAtOnce, async (file, at) => void (ids[at] = await roles.upload(org, 'base', file)));
  const uploadedMs = performance.now() - startedAt;
  await first;
  while ((await roles.unfinished(org)) > 0) await delay(50);
  const lastMs = performance.now() - startedAt;
  const after = cpuMs();
  const used = worker.stop();
  const ofFile = (process: Process): number => (after[process] - before[process]) / files;
  for (const id of sample(ids)) {
    const hits = await roles.search(org, 'base', `${word}${ids.indexOf(id)}x`);
    if (hits[0]?.document_id !== id) throw new Error(`file ${ids.indexOf(id)} of ${files} is completed and not found`);
  }
  const took = {
    firstMs,
    uploadedMs,
    lastMs,
    workerRssBeforeBytes,
    workerRssBytes: used?.rssMaxBytes ?? 0,
    cpuMs: { worker: ofFile('worker'), api: ofFile('api'), Postgres: ofFile('Postgres'), Temporal: ofFile('Temporal') },
  };
  return { took, ids };
}

interface Call {
  /** Returns how long each search took since the last look, in milliseconds. */
  taken(): readonly number[];
  stop(): void;
}

function startCall(databaseUrl: string): Call {
  const child = fork(fileURLToPath(new URL('call-process.ts', import.meta.url)), [databaseUrl, 'reader', 'library']);
  let took: number[] = [];
  child.on('message', (ms) => took.push(Number(ms)));
  return {
    taken() {
      const since = took;
      took = [];
      return since;
    },
    stop: () => void (child.connected && child.disconnect()),
  };
}

function sample<T>(items: readonly T[]): readonly T[] {
  const step = Math.max(1, Math.floor(items.length / sampled));
  return items.filter((_, at) => at % step === 0 || at === items.length - 1);
}

/** Makes about so many bytes of text, with a word that no other file has. */
function fileWith(word: string, bytes: number, texts: Texts): Uint8Array<ArrayBuffer> {
  let text = `The word of this file is ${word}.`;
  while (text.length < bytes) text += `\n\n${texts.passage(60)}`;
  return Buffer.from(text.slice(0, bytes));
}

function upload(roles: VolumeRoles, org: string, texts: Texts, word: string, bytes: number): Promise<string> {
  return roles.upload(org, 'base', { name: `${word}.txt`, content: fileWith(word, bytes, texts) });
}

async function untilFound(roles: VolumeRoles, org: string, id: string, word: string): Promise<void> {
  while (!(await roles.search(org, 'base', word)).some((hit) => hit.document_id === id)) await delay(20);
}

function collectionOf({ store }: VolumeRoles, org: string, name: string): Promise<Collection> {
  const spec = { uid: `uid-${name}`, profile: 'default', model: 'bm25', dimension: 0, language: 'en', maxTokens: 400, overlapTokens: 50 };
  return store.knowledge.collections.ensure({ org, name, ...spec });
}

/** Fills the knowledge base that is searched, of a third organisation. */
async function fillLibrary(roles: VolumeRoles, scale: KnowledgeScale, progress: (line: string) => void): Promise<void> {
  const { store } = roles;
  const collection = await collectionOf(roles, 'reader', 'library');
  const vectors = createVectorStore({ database: store.database });
  const texts = createTexts(3);
  progress(`filling ${scale.chunks} chunks in`);
  for (let part = 0; part < documentsInLibrary; part += 1) {
    const document = await readDocument({ store, collection, chunks: scale.chunks / documentsInLibrary, texts });
    await index({ store, vectors }, { collection, document });
    await completeDocument(store.knowledge, document);
  }
}

function toTable(results: Readonly<Record<string, readonly Volume[]>>, scale: KnowledgeScale): Table {
  const names = Object.keys(results);
  const rows: readonly (readonly [string, (volume: Volume) => number, (value: number) => string])[] = [
    [`${figure(scale.manyFiles)} files of 1 KB, until the last is found`, ({ many }) => many.lastMs, duration],
    ['the last of them uploaded', ({ many }) => many.uploadedMs, duration],
    ['the first of them found', ({ many }) => many.firstMs, duration],
    ['10 KB of another organisation, alone', ({ aloneMs }) => aloneMs, duration],
    ['10 KB of another organisation meanwhile, median', ({ othersMs }) => median(othersMs), duration],
    ['10 KB of another organisation meanwhile, slowest', ({ othersMs }) => percentile(othersMs, 100), duration],
    [`${figure(scale.smallFiles)} files of 10 KB, until the last is found`, ({ larger }) => larger.lastMs, duration],
    ['worker: RSS before, MB', ({ many }) => many.workerRssBeforeBytes / 1e6, figure],
    ['worker: highest RSS, MB', ({ many }) => many.workerRssBytes / 1e6, figure],
    ...(['worker', 'api', 'Postgres', 'Temporal'] as const).map(
      (process) => [`CPU a file of 1 KB: ${process}, ms`, ({ many }: Volume) => many.cpuMs[process], figure] as const,
    ),
    ['CPU a file of 1 KB: all of them, ms', ({ many }) => Object.values(many.cpuMs).reduce((sum, ms) => sum + ms, 0), figure],
    ['events in Temporal a document', ({ events }) => events, figure],
    ['activities a document', ({ activities }) => activities, figure],
    [`search in ${figure(scale.chunks)} chunks at rest, p95`, ({ searchAtRestP95 }) => searchAtRestP95, duration],
    ['the same meanwhile, p95', ({ searchMeanwhileP95 }) => searchMeanwhileP95, duration],
    ['search in the process of a call, at rest, p95', ({ callAtRestP95 }) => callAtRestP95, duration],
    ['the same meanwhile, p95', ({ callMeanwhileP95 }) => callMeanwhileP95, duration],
  ];
  return {
    title: `${figure(scale.manyFiles)} files over REST`,
    columns: ['median of the rounds', ...names, ...(names.length > 1 ? ['before / now'] : [])],
    rows: rows.map(([what, of, show]) => {
      const values = names.map((name) => median((results[name] ?? []).map(of)));
      const [before = 0, now = 0] = values;
      return [what].concat(
        values.map((value) => show(value)),
        names.length > 1 ? [times(before / now)] : [],
      );
    }),
    notes: [
      `api, worker, Postgres, Temporal and the clients share the machine. ${uploadsAtOnce} uploads are under way at once, one search every 20 ms, and one file of 10 KB of another organisation a second.`,
      'A worker with its defaults. RSS is that of its process without its parsers, CPU with them, and with the searches and files meanwhile.',
    ],
  };
}
