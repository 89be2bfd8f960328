/** Checks providers as `parley dev --provider` does, at servers that the providers' own clients pass and are refused by. */
import OpenAI, { APIError } from 'openai';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';

import { checkPart, type CheckOptions } from '../../../cli/providers/check-part.ts';
import type { ChosenPart } from '../../../cli/providers/choose-parts.ts';
import { awakeClock } from '../../../platform/clock.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { freePort } from '../../support/free-port.ts';
import { sendJson, Servers, startEndpoint } from '../../support/http-servers.ts';
import { openEgress, type TestEgress } from '../../support/open-egress.ts';
import { startProviderServer, type ProviderServer } from '../../support/provider-server.ts';
import { KEY, startSpeechApis, type SpeechApis } from '../speech-apis/speech-apis.ts';

const servers = new Servers();
let egress: TestEgress;
let models: ProviderServer;
let speech: SpeechApis;

beforeAll(async () => {
  egress = openEgress({ allowCidrs: ['127.0.0.0/8'] });
  [models, speech] = await Promise.all([startProviderServer(), startSpeechApis()]);
});
beforeEach(() => {
  models.reset();
  speech.taken.length = 0;
});
afterAll(async () => {
  egress.close();
  await Promise.all([models.close(), speech.stop(), servers.stop()]);
});

const check = (chosen: ChosenPart, key: string | undefined = KEY, more: Partial<CheckOptions> = {}) =>
  checkPart(chosen, {
    key: key === '' ? undefined : { value: key, from: 'OPENAI_API_KEY' },
    egress,
    clock: awakeClock,
    env: {},
    ...more,
  });

const llm = (more: Partial<ChosenPart> = {}): ChosenPart => ({
  part: 'llm',
  name: 'openai_compatible',
  baseURL: models.url,
  model: 'gpt-4o-mini',
  ...more,
});

it('asks a language model for a word, with the header of the official client', async () => {
  expect(await check(llm())).toMatchObject({ part: 'llm', model: 'gpt-4o-mini', tookMs: expect.any(Number) });
  const client = new OpenAI({ apiKey: KEY, baseURL: models.url, maxRetries: 0 });
  const stream = await client.chat.completions.create({
    model: 'gpt-4o-mini',
    messages: [{ role: 'user', content: 'Hello' }],
    stream: true,
  });
  let said = '';
  for await (const { choices } of stream) said += choices[0]?.delta.content ?? '';
  expect(said).toBe('I heard: Hello');
  const [ours, theirs] = models.requests('chat');
  expect([ours?.headers.authorization, ours?.messages]).toEqual([theirs?.headers.authorization, theirs?.messages]);
  expect(ours?.billed.outputTokens).toBeLessThanOrEqual(16);
});

it.each([
  ['key', 401, 'invalid_api_key', `Incorrect API key provided: ${KEY}.`],
  ['credit', 429, 'insufficient_quota', 'You exceeded your current quota, please check your plan and billing details.'],
  ['limit', 429, 'rate_limit_exceeded', 'Rate limit reached for requests'],
  ['credit', 402, 'billing', 'Payment Required'],
  ['model', 404, 'model_not_found', 'The model `gpt-4o-mini` does not exist or you do not have access to it.'],
  ['provider', 503, 'overloaded', 'The engine is currently overloaded'],
] as const)('says that it is about %s where the official client throws %i %s', async (kind, status, code, message) => {
  models.chat(() => ({ status, error: { message, code } }));
  const problem = await check(llm());
  expect(problem).toMatchObject({ kind, message: expect.stringContaining(`(${status})`), cure: expect.any(String) });
  expect(JSON.stringify(problem)).not.toContain(KEY);
  expect(models.requests('chat')).toHaveLength(1);
  const client = new OpenAI({ apiKey: KEY, baseURL: models.url, maxRetries: 0 });
  const error: unknown = await client.chat.completions
    .create({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] })
    .catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(APIError);
  expect(error).toMatchObject({ status, code });
});

it.each<[ChosenPart['part'], ChosenPart['name']]>([
  ['stt', 'openai'],
  ['tts', 'openai'],
  ['stt', 'deepgram'],
  ['tts', 'deepgram'],
  ['stt', 'elevenlabs'],
  ['tts', 'elevenlabs'],
  ['stt', 'cartesia'],
  ['tts', 'cartesia'],
  ['stt', 'google'],
  ['tts', 'google'],
])('asks for the %s of %s as calls do, once, and knows a wrong key', async (part, name) => {
  const chosen = { part, name, baseURL: name === 'cartesia' ? speech.url : `${speech.url}/v1` };
  expect(await check(chosen)).toMatchObject({ part, name, tookMs: expect.any(Number) });
  expect(speech.taken).toHaveLength(1);
  expect(await check(chosen, 'another')).toMatchObject({ kind: 'key', message: expect.stringContaining('OPENAI_API_KEY') });
});

it('reads the name of the model where there is one, and shows them where there are several', async () => {
  let data = [{ id: 'qwen3' }];
  const list = await startEndpoint(servers, (response, { url }) => {
    if (url === '/v1/models') sendJson(response, { object: 'list', data });
    else
      response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .end('data: {"choices":[{"delta":{"content":"Hi"}}]}\n\ndata: [DONE]\n\n');
  });
  const { model: _named, ...unnamed } = llm({ name: 'ollama', baseURL: `${list.url}/v1` });
  expect(await check(unnamed, '')).toMatchObject({ model: 'qwen3', tookMs: expect.any(Number) });
  expect(list.requests.map(({ headers }) => headers.authorization)).toEqual([undefined, undefined]);
  data = [{ id: 'qwen3' }, { id: 'llama3.3' }];
  expect(await check(unnamed, '')).toMatchObject({ kind: 'model', cure: 'choose one with --model: qwen3, llama3.3' });
  data = [];
  expect(await check(unnamed, '')).toMatchObject({ kind: 'model', cure: expect.stringContaining('ollama pull') });
});

it('knows a server that is away, and one that answers something else', async () => {
  const away = `http://127.0.0.1:${await freePort()}/v1`;
  expect(await check(llm({ baseURL: away }))).toMatchObject({ kind: 'network', cure: expect.stringContaining('start the server') });
  const page = await startEndpoint(servers, (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Log in</h1>'));
  const text = await startEndpoint(servers, (response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}'),
  );
  for (const part of ['llm', 'stt'] as const) {
    expect(await check(llm({ part, baseURL: `${page.url}/v1` }))).toMatchObject({ kind: 'proxy' });
    expect(await check(llm({ part, baseURL: `${text.url}/v1` }))).toMatchObject({ kind: 'address' });
  }
  const closed = openEgress();
  expect(await check(llm(), KEY, { egress: closed })).toMatchObject({
    kind: 'address',
    cure: expect.stringContaining('PARLEY_EGRESS_ALLOW_CIDRS'),
  });
  closed.close();
});

it('does not wait for ever', async () => {
  const clock = new FakeClock();
  const asked = Promise.withResolvers<void>();
  models.chat(() => {
    asked.resolve();
    return { holdHead: new Promise(() => undefined) };
  });
  const checked = check(llm(), KEY, { clock });
  await asked.promise;
  await clock.advance(180_000);
  expect(await checked).toMatchObject({ kind: 'provider', message: expect.stringContaining('180 s') });
});
