/** Reranks over real connections: Cohere's own client and Parley ask one server the same, and whatever it answers a search has hits. */
import { CohereClientV2 } from 'cohere-ai';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';

import type { ModelUse } from '../../../knowledge/model-use.ts';
import { createReranking, type Reranking } from '../../../knowledge/reranking/create-reranking.ts';
import { createSearch } from '../../../knowledge/search/create-search.ts';
import { createVectorStore } from '../../../knowledge/vector-stores/index.ts';
import { rerankProfile } from '../../../platform/config/profiles.ts';
import { openEgress, type TestEgress } from '../../support/open-egress.ts';
import { createLogger } from '../../../platform/logging.ts';
import type { Store } from '../../../store/index.ts';
import { Servers, whole } from '../../support/http-servers.ts';
import { aKnowledgeBase } from '../../support/knowledge-base.ts';
import { migratedDatabase, openPatientStore } from '../../support/postgres.ts';

const KEY = 'rerank-key-1';
const servers = new Servers();
/** Records the use that is to be counted. */
const used: ModelUse[] = [];
const onUse = (use: ModelUse): void => void used.push(use);
const asked: { readonly path: string; readonly body: Record<string, unknown> }[] = [];
/** Says how the server answers: as the API does, or not. */
type Behaviour = 'good' | 'slow' | 'broken' | 'incomplete' | 'html';
let behaviour = 'good' as Behaviour;
let url: string;
let egress: TestEgress;
let store: Store;
const logged: Record<string, unknown>[] = [];

/** The API refuses what Cohere's refuses: no key, fields that are missing or unknown, texts that are none. Long passages fit best. */
beforeAll(async () => {
  const { port } = await servers.http(
    whole((request, response, raw) => {
      const body = JSON.parse(raw.toString('utf8')) as Record<string, unknown>;
      const path = request.url ?? '';
      asked.push({ path, body });
      const answer = (status: number, value: unknown): void =>
        void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
      if (request.method !== 'POST' || !path.endsWith('/rerank')) return answer(404, { message: 'not found' });
      if (request.headers.authorization !== `Bearer ${KEY}`) return answer(401, { message: 'invalid api token' });
      const texts = (path.startsWith('/tei') ? body['texts'] : body['documents']) as readonly unknown[] | undefined;
      const known = new Set([
        'model',
        'query',
        'documents',
        'texts',
        'top_n',
        'top_k',
        'truncate',
        'truncation',
        'raw_scores',
        'return_documents',
      ]);
      if (typeof body['query'] !== 'string' || !Array.isArray(texts) || !texts.every((text) => typeof text === 'string'))
        return answer(400, { message: 'query and documents are required' });
      const unknown = Object.keys(body).find((field) => !known.has(field));
      if (unknown !== undefined) return answer(422, { message: `unknown field ${unknown}` });
      if (behaviour === 'slow') return;
      if (behaviour === 'broken') return answer(503, { message: 'overloaded' });
      if (behaviour === 'html') return void response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Welcome</h1>');
      const scores = (texts as readonly string[]).map((text, index) => ({ index, score: text.length / 1_000 }));
      const sorted = scores.toSorted((left, right) => right.score - left.score).slice(behaviour === 'incomplete' ? 1 : 0);
      if (path.startsWith('/tei')) return answer(200, sorted);
      const usage = { total_tokens: raw.length };
      const results = sorted.map(({ index, score }) => ({ index, relevance_score: score }));
      answer(
        200,
        path.startsWith('/voyage')
          ? { object: 'list', data: results, usage }
          : { id: 'r1', results, ...(path.startsWith('/v2') ? { meta: { billed_units: { search_units: 2 } } } : { usage }) },
      );
    }),
  );
  url = `http://127.0.0.1:${port}`;
  egress = openEgress({ allowCidrs: ['127.0.0.0/8'] });
  store = openPatientStore((await migratedDatabase()).url);
});
beforeEach(() => {
  asked.length = 0;
  used.length = 0;
  logged.length = 0;
  behaviour = 'good';
});
afterAll(async () => {
  egress.close();
  await store.close();
  await servers.stop();
});

const logger = Object.assign(createLogger({ role: 'test', level: 'silent' }), {
  warn: (fields: Record<string, unknown>) => void logged.push(fields),
});

/** Waits for a server that answers as long as it takes: longer than a profile may say. */
function reranking(
  given: Readonly<Record<string, unknown>>,
  { registry, guard = egress, timeoutMs = 60_000 }: { registry?: Registry; guard?: TestEgress; timeoutMs?: number } = {},
): Reranking {
  const parsed = rerankProfile.parse({ name: 'good', provider: 'cohere', model: 'rerank-v3.5', apiKeyEnv: 'RERANK_KEY', ...given });
  const profile = { ...parsed, timeoutMs };
  return createReranking({ profiles: [profile], egress: guard, env: { RERANK_KEY: KEY }, logger, ...(registry && { registry }) });
}

const question = {
  query: 'When is the gate open?',
  documents: ['The gate.', 'The gate opens at nine in the morning.', 'A bridge over a river.'],
};

it('sends what Cohere’s own client sends, and reads the same', async () => {
  const client = new CohereClientV2({ token: KEY, environment: url });
  const { results } = await client.rerank({ model: 'rerank-v3.5', ...question, topN: 3 });
  const reranked = await reranking({ baseURL: `${url}/v2` }).rerank('good', question, { onUse });
  const [theirs, ours] = asked;
  expect(ours?.path).toBe(theirs?.path);
  expect(ours?.body).toEqual(theirs?.body);
  expect(reranked).toEqual(results.map(({ index, relevanceScore }) => ({ index, score: relevanceScore })));
  expect(reranked?.map(({ index }) => index)).toEqual([1, 2, 0]);
  expect(used).toEqual([{ kind: 'rerank', provider: 'cohere', model: 'rerank-v3.5', texts: [], reported: { searchUnits: 2 } }]);
});

it.each(['jina', 'voyage', 'openai_compatible', 'text_embeddings_inference'])('reads the answer of %s', async (provider) => {
  const folder = { jina: 'jina', voyage: 'voyage', openai_compatible: 'v1', text_embeddings_inference: 'tei' }[provider];
  const reranked = await reranking({ provider, baseURL: `${url}/${folder}` }).rerank('good', question, { onUse });
  expect(reranked?.map(({ index }) => index)).toEqual([1, 2, 0]);
  const tokens = provider === 'text_embeddings_inference' ? undefined : JSON.stringify(asked[0]?.body).length;
  expect(used).toEqual([expect.objectContaining({ provider, reported: { tokens } })]);
  expect(logged).toEqual([]);
});

it.each<readonly [Behaviour, string]>([
  ['slow', 'timeout'],
  ['broken', 'unavailable'],
  ['incomplete', 'invalid_response'],
  ['html', 'invalid_response'],
])('keeps the order of the search when the server is %s, counts it and warns', async (how, outcome) => {
  behaviour = how;
  const registry = new Registry();
  const asking = reranking({ baseURL: `${url}/v2` }, { registry, ...(how === 'slow' && { timeoutMs: 150 }) });
  expect(await asking.rerank('good', question, { onUse })).toBeUndefined();
  // A server that is late has done its work.
  expect(used.map(({ reported }) => reported)).toEqual(how === 'slow' ? [{}] : []);
  expect(await registry.metrics()).toContain(`parley_rerank_request_seconds_count{profile="good",outcome="${outcome}"} 1`);
  expect(logged).toEqual([expect.objectContaining({ profile: 'good', outcome })]);
  expect(JSON.stringify(logged)).not.toMatch(/gate|rerank-key/);
});

it('does not ask where the key is wrong or missing, or the egress rules forbid it', async () => {
  const strict = openEgress();
  try {
    for (const [given, guard, outcome] of [
      [{ apiKeyEnv: undefined }, egress, 'unauthorized'],
      [{ apiKeyEnv: 'ABSENT' }, egress, 'misconfigured'],
      [{}, strict, 'misconfigured'],
    ] as const) {
      expect(await reranking({ baseURL: `${url}/v2`, ...given }, { guard }).rerank('good', question)).toBeUndefined();
      expect(logged.at(-1)).toMatchObject({ outcome });
    }
    expect(asked).toHaveLength(1);
  } finally {
    strict.close();
  }
});

it('gives hits in the order of the model, and all of them in the order of the search while it is away', async () => {
  const { knowledge, database } = store;
  await aKnowledgeBase({ store, org: 'acme' }, 'gates', 'The gate opens.');
  const collection = await knowledge.collections.byName({ org: 'acme', name: 'gates' });
  expect(collection).toBeDefined();
  for (const text of ['The gate opens at nine.', 'The gate opens at nine in the morning and closes at six.'])
    await aKnowledgeBase({ store, org: 'acme' }, 'gates', text);
  const search = (name: string | undefined, topK = 3) =>
    knowledge.collections.ensure({ ...collection!, rerankProfile: name }).then(() =>
      createSearch({
        knowledge,
        vectors: createVectorStore({ database }),
        embedderOf: () => undefined,
        reranking: reranking({ baseURL: `${url}/v2`, candidates: 50 }),
      }).search({ org: 'acme', knowledgeBase: 'gates', query: 'the gate opens', topK }),
    );
  const plain = await search(undefined);
  expect(plain?.map(({ content }) => content.length)).toEqual([15, 23, 56]);
  expect(asked).toHaveLength(0);
  const reranked = await search('good');
  expect(reranked?.map(({ content }) => content.length)).toEqual([56, 23, 15]);
  expect(reranked?.map(({ score }) => score)).toEqual([0.056, 0.023, 0.015]);
  // The hits are the best of all candidates, and not only of as many as are asked for.
  expect((await search('good', 1))?.map(({ content }) => content.length)).toEqual([56]);
  behaviour = 'broken';
  expect(await search('good')).toEqual(plain);
  expect(await search('removed from the configuration')).toEqual(plain);
});
