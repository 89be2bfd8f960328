/** Whatever real embedding servers answer, there is never a wrong vector, and never a silence that looks like an answer. */
import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';

import { describe, expect, it, onTestFinished } from 'vitest';

import { openKnowledge } from '../../../knowledge/open-knowledge.ts';
import { SearchUnavailableError } from '../../../knowledge/search/search.ts';
import { loadConfig } from '../../../platform/config/config.ts';
import { createLogger } from '../../../platform/logging.ts';
import { createRegistry } from '../../../platform/metrics.ts';
import { openStore, type Collection } from '../../../store/index.ts';
import { eventually } from '../../support/eventually.ts';
import { Servers, startEndpoint } from '../../support/http-servers.ts';
import { startMilvusLite } from '../../support/milvus-lite.ts';
import { startTcpProxy } from '../../support/tcp-proxy.ts';
import { knowledgeHarness, type KnowledgeHarness } from './harness.ts';

const dimension = 16;
const sameMeaning: Readonly<Record<string, string>> = { automobile: 'car', vehicle: 'car', physician: 'doctor' };

/** Embeds a text as the model of these tests does: a direction for each word, the same one for words that mean the same. */
function vectorFor(text: string): readonly number[] {
  const sum = Array.from({ length: dimension }, () => 0.01);
  for (const word of text.toLowerCase().match(/[a-z0-9-]+/g) ?? []) {
    const bytes = createHash('sha256')
      .update(sameMeaning[word] ?? word)
      .digest();
    for (let at = 0; at < dimension; at += 1) sum[at] = (sum[at] ?? 0) + (bytes[at] ?? 0) / 128 - 1;
  }
  return sum;
}

interface Item {
  readonly index?: number;
  readonly embedding: unknown;
}

const rightly = (texts: readonly string[]): readonly Item[] => texts.map((text, index) => ({ index, embedding: vectorFor(text) }));
const each = (texts: readonly string[], embedding: unknown): readonly Item[] => texts.map((_, index) => ({ index, embedding }));
const send = (response: ServerResponse, data: readonly Item[]): void =>
  void response.setHeader('content-type', 'application/json').end(JSON.stringify({ object: 'list', data, model: 'm' }));

type Answer = (response: ServerResponse, texts: readonly string[]) => void;

const good: Answer = (response, texts) => send(response, rightly(texts));

/** Ways of an embedding server to answer. */
const answers = {
  good,
  limited: (response) => void response.writeHead(429, { 'retry-after': '1' }).end('{"error": "slow down"}'),
  broken: (response) => void response.writeHead(500).end('oops'),
  away: (response) => void response.socket?.destroy(),
  late: () => undefined,
  base64: (response, texts) =>
    send(
      response,
      texts.map((text, index) => ({ index, embedding: Buffer.from(Float32Array.from(vectorFor(text)).buffer).toString('base64') })),
    ),
  notANumber: (response, texts) => void response.end(JSON.stringify({ data: each(texts, ['NaN']) }).replaceAll('"NaN"', 'NaN')),
  nulls: (response, texts) => send(response, each(texts, Array(dimension).fill(null))),
  infinite: (response, texts) => send(response, each(texts, Array(dimension).fill(1e300))),
  zeros: (response, texts) => send(response, each(texts, Array(dimension).fill(0))),
  tooFew: (response, texts) => send(response, rightly(texts).slice(1)),
  tooMany: (response, texts) => send(response, [...rightly(texts), ...rightly(['one more'])]),
  twice: (response, texts) => send(response, [...rightly(texts).slice(1), ...rightly(texts).slice(1, 2)]),
  reversed: (response, texts) => send(response, rightly(texts).toReversed()),
  unnumbered: (response, texts) =>
    send(
      response,
      rightly(texts).map(({ embedding }) => ({ embedding })),
    ),
  otherDimension: (response, texts) => send(response, each(texts, Array(dimension * 2).fill(1))),
  html: (response) => void response.setHeader('content-type', 'text/html').end('<h1>Welcome to nginx!</h1>'),
  brokenOff: (response, texts) => {
    const body = JSON.stringify({ data: rightly(texts) });
    response.writeHead(200, { 'content-length': body.length }).write(body.slice(0, body.length / 2));
    setTimeout(() => response.destroy(), 20);
  },
  slow: (response, texts) => void setTimeout(() => good(response, texts), 25_000),
  small: (response, texts) => (texts.length > 8 ? void response.writeHead(413).end() : good(response, texts)),
  forbidden: (response) => void response.writeHead(401).end(),
} satisfies Readonly<Record<string, Answer>>;

type Way = keyof typeof answers;

/** Starts a server with a path for each model: it answers in one way `times` times, then in another. */
async function embeddingServer() {
  const counts = new Map<string, number>();
  const servers = new Servers();
  const { host, requests } = await startEndpoint(servers, (response, { url, body }) => {
    const [, way = '', times = '', then = ''] = url.split('/');
    const count = counts.get(url) ?? 0;
    counts.set(url, count + 1);
    const { input } = JSON.parse(body) as { readonly input: readonly string[] };
    const answer: Answer = answers[(count < Number(times) ? way : then) as Way];
    answer(response, input);
  });
  const stop = (): Promise<void> => servers.stop();
  onTestFinished(stop);
  return {
    stop,
    requests: () => requests.length,
    profile: (way: Way, times: number, then: Way) => ({
      provider: 'openai_compatible',
      name: `${way}-${times}-${then}`.toLowerCase(),
      model: `model-${way}-${times}-${then}`,
      dimension,
      maxTokens: 512,
      baseURL: `http://${host}/${way}/${times}/${then}`,
      passagePrefix: 'passage: ',
      queryPrefix: 'query: ',
      timeoutMs: way === 'late' ? 400 : 40_000,
    }),
  };
}

type Profile = ReturnType<Awaited<ReturnType<typeof embeddingServer>>['profile']>;

const profilesOf = (profiles: readonly Profile[]): Readonly<Record<string, string>> => ({
  PARLEY_EMBEDDING_PROFILES: JSON.stringify([{ name: 'default', provider: 'lexical', model: 'bm25' }, ...profiles]),
});

/** Makes a knowledge base for a profile. */
function baseOf(kb: KnowledgeHarness, { name, model }: Profile): Promise<Collection> {
  const chunks = { maxTokens: 400, overlapTokens: 50, language: 'en' };
  return kb.store.knowledge.collections.ensure({ org: 'acme', name, uid: `uid-${name}`, ...chunks, profile: name, model, dimension });
}

/** Number of sections, and with them chunks: they don't fit into one request. */
const sections = 150;
const manual = Array.from({ length: sections }, (_, index) => `# Part ${index}\n\nThe bolt B-${index} holds plate P-${index * 7}.`).join(
  '\n\n',
);

/** Reads what a collection has in its table of vectors, in addition to their texts. */
async function storedVectors(kb: KnowledgeHarness, collectionId: string) {
  const rows = await kb.sql<{ embedding: string; text: string }>(
    `SELECT v.embedding::text, c.indexed_text AS text FROM parley.vector_dense_${dimension} v
     JOIN parley.vector_chunks k USING (org, collection_id, number)
     JOIN parley.chunks c ON c.org = k.org AND c.document_id = k.document_id AND c.ordinal = k.ordinal WHERE v.collection_id = $1`,
    [collectionId],
  );
  return rows.map(({ embedding, text }) => ({ vector: JSON.parse(embedding) as readonly number[], text }));
}

function cosine(a: readonly number[], b: readonly number[]): number {
  const product = (x: readonly number[], y: readonly number[]): number => x.reduce((sum, value, at) => sum + value * (y[at] ?? 0), 0);
  return product(a, b) / Math.sqrt(product(a, a) * product(b, b));
}

it('a document is completed with the vectors of its texts, or failed; never with others', async () => {
  const server = await embeddingServer();
  const completed = [
    ...(['limited', 'broken', 'away', 'late', 'notANumber', 'nulls', 'infinite', 'zeros', 'tooFew', 'tooMany', 'twice'] as const),
    ...(['html', 'brokenOff'] as const),
  ].map((way) => server.profile(way, 1, 'good'));
  const always = (['base64', 'reversed', 'unnumbered', 'small'] as const).map((way) => server.profile(way, 0, way));
  const failed = (['otherDimension', 'zeros', 'tooFew', 'nulls', 'broken', 'forbidden'] as const).map((way) => server.profile(way, 0, way));
  // A reconfigured server gives vectors of another model with the third request: all or nothing.
  const changing = server.profile('good', 2, 'otherDimension');
  const profiles = [...completed, ...always, ...failed, changing];
  const kb = await knowledgeHarness({ env: { ...profilesOf(profiles), PARLEY_INGESTION_CONCURRENCY: '16' } });
  const runs = await Promise.all(
    profiles.map(async (profile) => {
      const collection = await baseOf(kb, profile);
      const id = await kb.add('manual.md', manual, { to: collection });
      return { profile, collection, id, document: await kb.ended(id, collection) };
    }),
  );

  const outcomes = Object.fromEntries(runs.map(({ profile, document }) => [profile.name, [document.status, document.errorCode]]));
  const ends = (list: readonly Profile[], end: readonly unknown[]) => Object.fromEntries(list.map(({ name }) => [name, end]));
  expect(outcomes).toEqual({
    ...ends([...completed, ...always], ['completed', null]),
    ...ends([...failed, changing], ['failed', 'embedding_failed']),
  });

  for (const { profile, collection, id, document } of runs) {
    const stored = await storedVectors(kb, collection.id);
    const wrong = stored.filter(({ vector, text }) => cosine(vector, vectorFor(`passage: ${text}`)) < 0.999);
    expect([profile.name, wrong]).toEqual([profile.name, []]);
    if (document.status === 'completed') {
      expect([profile.name, document.chunkCount, stored.length]).toEqual([profile.name, sections, sections]);
      expect((await kb.search('plate P-497', { in: collection, topK: 1 }))[0]).toMatchObject({ documentId: id, chunkIndex: 71 });
    } else {
      expect([profile.name, document.chunkCount, document.message.length > 20]).toEqual([profile.name, 0, true]);
    }
  }
});

it('a reindex waits for a batch that takes longer than Temporal waits for a heartbeat, and embeds it once', async () => {
  const server = await embeddingServer();
  const profile = server.profile('good', 1, 'slow');
  const kb = await knowledgeHarness({ env: profilesOf([profile]) });
  const collection = await baseOf(kb, profile);
  await kb.ended(await kb.add('note.txt', 'The gate code is 4711.', { to: collection }), collection);
  await kb.sql('DELETE FROM parley.embedding_cache');
  const job = { org: 'acme', knowledgeBase: collection.name, collectionId: collection.id };
  await kb.knowledge.jobs.reindex(job);
  await kb.knowledge.jobs.reindexed(job);
  expect(server.requests()).toBe(2);
});

describe('a hybrid search', () => {
  it('finds by meaning what has no word of the question, and by words what the model knows nothing of', async () => {
    const server = await embeddingServer();
    const profile = server.profile('good', 0, 'good');
    const kb = await knowledgeHarness({ env: profilesOf([profile]) });
    const collection = await baseOf(kb, profile);
    const texts = ['car', 'doctor', 'bicycle', 'ship', 'XK-77124-B', 'garden', 'kitchen', 'piano'];
    const ids = await Promise.all(texts.map((text) => kb.add('note.txt', text, { to: collection })));
    for (const id of ids) expect(await kb.ended(id, collection)).toMatchObject({ status: 'completed' });
    for (const [question, at] of [
      ['automobile', 0],
      ['physician', 1],
      ['XK-77124-B', 4],
    ] as const) {
      const hits = await kb.search(question, { in: collection });
      expect([question, hits[0]?.documentId]).toEqual([question, ids[at]]);
      const scores = hits.map(({ score }) => score);
      expect(scores).toEqual(scores.toSorted((a, b) => b - a));
      expect(scores.every((score) => score > 0 && score <= 1)).toBe(true);
    }
    // Deletion and filter hold for what was found by its vector, too.
    await kb.store.knowledge.documents.tombstone({ org: 'acme', id: ids[0] ?? '', collectionId: collection.id });
    expect((await kb.search('automobile', { in: collection, topK: 100 })).map(({ documentId }) => documentId)).not.toContain(ids[0]);
    expect(await kb.search('automobile', { in: collection, filter: { absent: 'has it' } })).toEqual([]);

    // The search doesn't answer with what the words alone have found: that would be another answer to the same question.
    await server.stop();
    await expect(kb.search('garden and kitchen', { in: collection })).rejects.toThrow(SearchUnavailableError);
  });
});

describe('while the vector store is unavailable', () => {
  it('(Postgres) a search says so', async () => {
    const kb = await knowledgeHarness();
    await kb.ended(await kb.add('note.txt', 'The gate code is 4711.'));
    const address = new URL(kb.env['DATABASE_URL'] ?? '');
    const proxy = await startTcpProxy({ host: address.hostname, port: Number(address.port) });
    onTestFinished(() => proxy.close());
    address.port = String(proxy.port);
    const logger = createLogger({ role: 'test', level: 'silent' });
    const registry = createRegistry({ role: 'test', version: 'test' });
    const store = openStore({ databaseUrl: address.href, poolSize: 2, logger, registry });
    const config = loadConfig({ ...kb.env, DATABASE_URL: address.href });
    const knowledge = openKnowledge({ config, store, logger, registry });
    onTestFinished(async () => {
      await knowledge.close();
      await store.close();
    });
    const ask = () => knowledge.search.search({ org: 'acme', knowledgeBase: kb.collection.name, query: 'gate code', topK: 5 });
    expect(await ask()).toHaveLength(1);
    proxy.cut();
    for (let attempt = 0; attempt < 3; attempt += 1) await expect(ask()).rejects.toThrow(SearchUnavailableError);
    proxy.restore();
    await expect.poll(() => ask().catch(() => [])).toHaveLength(1);
  });

  it('(Milvus) a search says so, and an ingestion waits', async () => {
    const milvus = await startMilvusLite();
    onTestFinished(() => milvus.stop());
    const kb = await knowledgeHarness({ env: { VECTOR_STORE_URL: `milvus://${milvus.host}:${milvus.port}` } });
    const known = await kb.add('note.txt', 'The gate code is 4711.');
    await kb.ended(known);
    await milvus.kill();
    const waiting = await kb.add('manual.md', manual);
    for (let attempt = 0; attempt < 2; attempt += 1) await expect(kb.search('gate code')).rejects.toThrow(SearchUnavailableError);
    expect(await kb.store.knowledge.documents.get({ org: 'acme', id: waiting })).toMatchObject({ status: 'processing' });
    await expect(kb.knowledge.vectors.health()).rejects.toMatchObject({ kind: 'unavailable' });
    await milvus.start();
    await eventually(() => kb.knowledge.vectors.health());
    expect(await kb.ended(waiting)).toMatchObject({ status: 'completed', chunkCount: sections });
    expect((await kb.search('gate code'))[0]?.documentId).toBe(known);
    expect((await kb.search('plate P-497', { topK: 1 }))[0]).toMatchObject({ documentId: waiting, chunkIndex: 71 });
  });
});
