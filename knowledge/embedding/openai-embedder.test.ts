import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';

import { Agent } from 'undici';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { type Clock, systemClock } from '../../platform/clock.ts';
import { Servers, startEndpoint, type TestEndpoint } from '../../test/support/http-servers.ts';
import type { ModelUse } from '../model-use.ts';
import { EmbeddingError } from './embedding-error.ts';
import { OpenAiEmbedder, type OpenAiEmbedderOptions } from './openai-embedder.ts';
import type { OpenAiProfile } from './embedder.ts';

const key = 'sk-very-secret';
const dimension = 3;

const TIMEOUT_MS = 200_000;
/** Lets the latest request time out. */
let timeOut: () => void;

/** Runs fifty times as fast as the world, so that tests do not wait for delays; a request times out when a test says so. */
const fast: Clock = {
  now: () => systemClock.now(),
  monotonic: () => systemClock.monotonic() * 50,
  after(ms, callback) {
    if (ms !== TIMEOUT_MS) return systemClock.after(ms / 50, callback);
    timeOut = callback;
    return { cancel: () => undefined };
  },
};

interface Asked {
  readonly input: readonly string[];
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: IncomingHttpHeaders;
}

type Answer = (asked: Asked, response: ServerResponse, attempt: number) => void;

const servers = new Servers();
let server: TestEndpoint;
let dispatcher: Agent;
let asked: Asked[];
let answer: Answer;

/** Returns a text's vector: its length and its first character, so that a wrong order shows. */
function vectorOf(text: string): number[] {
  return [text.length, text.codePointAt(0) ?? 0, 1];
}

function good(input: readonly string[]): { index: number; embedding: number[] }[] {
  return input.map((text, index) => ({ index, embedding: vectorOf(text) }));
}

function json(response: ServerResponse, data: unknown, status = 200, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(data));
}

function fine({ input }: Asked, response: ServerResponse): void {
  json(response, { data: good(input) });
}

/** Answers wrong the first so many times, then right. */
function atFirst(times: number, wrong: Answer): Answer {
  return (request, response, attempt) => (attempt <= times ? wrong(request, response, attempt) : fine(request, response));
}

beforeEach(async () => {
  asked = [];
  answer = fine;
  dispatcher = new Agent();
  server = await startEndpoint(servers, (response, request) => {
    const body = JSON.parse(request.body) as Record<string, unknown>;
    const entry = { input: body['input'] as string[], body, headers: request.headers };
    asked.push(entry);
    answer(entry, response, asked.length);
  });
});

afterEach(async () => {
  await dispatcher.destroy();
  await servers.stop();
});

function embedder(
  profile: Partial<OpenAiProfile> = {},
  env: Record<string, string> = { EMBEDDING_KEY: key },
  more: Partial<OpenAiEmbedderOptions> = {},
): OpenAiEmbedder {
  return new OpenAiEmbedder({
    profile: {
      name: 'test',
      provider: 'openai_compatible',
      model: 'small',
      dimension,
      baseURL: `${server.url}/v1/`,
      apiKeyEnv: 'EMBEDDING_KEY',
      queryPrefix: 'query: ',
      passagePrefix: 'passage: ',
      maxTokens: 512,
      batchSize: 64,
      concurrency: 4,
      timeoutMs: TIMEOUT_MS,
      ...profile,
    },
    env,
    clock: fast,
    dispatcher,
    ...more,
  });
}

async function failure(promise: Promise<unknown>): Promise<EmbeddingError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof EmbeddingError)) throw new Error('it did not fail as it should', { cause: error });
  expect(JSON.stringify([error.message, error.stack])).not.toMatch(/sk-very-secret|confidential/);
  return error;
}

const texts = ['alpha', 'be', 'gamma ray'];
const expected = texts.map((text) => Float32Array.from(vectorOf(`passage: ${text}`)));

describe('a request', () => {
  it('asks for floats, with model, prefix and key', async () => {
    expect(await embedder().embed(texts, 'passage')).toEqual(expected);
    expect(asked[0]?.body).toEqual({ model: 'small', input: texts.map((text) => `passage: ${text}`), encoding_format: 'float' });
    expect(asked[0]?.headers.authorization).toBe(`Bearer ${key}`);
    await embedder().embed(['what?'], 'query');
    expect(asked[1]?.input).toEqual(['query: what?']);
  });

  it('has 64 texts, and no more than four are in flight', async () => {
    const pending: (() => void)[] = [];
    let most = 0;
    // This answers once four are in flight, or the last of the ten.
    answer = (request, response) => {
      pending.push(() => fine(request, response));
      most = Math.max(most, pending.length);
      if (pending.length === 4 || asked.length === 10) for (const respond of pending.splice(0)) respond();
    };
    const many = Array.from({ length: 64 * 9 + 1 }, (_, index) => `text ${index}`);
    const vectors = await embedder().embed(many, 'passage');
    expect(vectors).toEqual(many.map((text) => Float32Array.from(vectorOf(`passage: ${text}`))));
    expect(asked.map(({ input }) => input.length).toSorted((left, right) => left - right)).toEqual([
      1,
      ...Array.from({ length: 9 }, () => 64),
    ]);
    expect(most).toBe(4);
  });

  it('is counted, with how it went', async () => {
    const requests: unknown[] = [];
    answer = atFirst(1, (_, response) => json(response, {}, 500));
    const counting = embedder({}, undefined, { onRequest: ({ kind, outcome }) => requests.push([kind, outcome]) });
    await counting.embed(texts, 'passage');
    await counting.embed(['x'], 'query');
    expect(requests).toEqual([
      ['passage', 'unavailable'],
      ['passage', 'answered'],
      ['query', 'answered'],
    ]);
  });

  it('is reported for its costs where the server answers, or is given up, with the tokens that it has counted', async () => {
    const used: ModelUse[] = [];
    const onUse = (use: ModelUse): void => void used.push(use);
    answer = atFirst(1, (_, response) => json(response, {}, 500));
    await embedder().embed(['what?'], 'query', { onUse });
    answer = ({ input }, response) => json(response, { data: good(input), usage: { prompt_tokens: 4, total_tokens: 9 } });
    await embedder().embed(['who?'], 'query', { onUse });
    answer = () => timeOut();
    await failure(embedder().embed(['late?'], 'query', { onUse }));
    const of = { kind: 'embedding', provider: 'openai_compatible', model: 'small' };
    expect(used).toEqual([
      { ...of, texts: ['query: what?'], reported: {} },
      { ...of, texts: ['query: who?'], reported: { tokens: 4 } },
      { ...of, texts: ['query: late?'], reported: {} },
    ]);
  });

  it('cuts a text that is longer than the model takes', async () => {
    await embedder({ maxTokens: 16, passagePrefix: '' }).embed(['word '.repeat(500)], 'passage');
    expect(asked[0]?.input[0]?.length).toBeLessThan(100);
    expect(asked[0]?.input[0]).toMatch(/^word word/);
  });

  it('is not made for nothing', async () => {
    expect(await embedder().embed([], 'passage')).toEqual([]);
    expect(asked).toEqual([]);
  });
});

describe('answers that are put right', () => {
  it.each<[string, Answer]>([
    ['in another order', ({ input }, response) => json(response, { data: good(input).toReversed() })],
    ['without an index', ({ input }, response) => json(response, { data: good(input).map(({ embedding }) => ({ embedding })) })],
    [
      'in Base64',
      ({ input }, response) =>
        json(response, {
          data: good(input).map(({ index, embedding }) => ({
            index,
            embedding: Buffer.from(Float32Array.from(embedding).buffer).toString('base64'),
          })),
        }),
    ],
    [
      'compressed',
      ({ input }, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(JSON.stringify({ data: good(input) }))),
    ],
  ])('%s', async (_, wrong) => {
    answer = wrong;
    expect(await embedder().embed(texts, 'passage')).toEqual(expected);
    expect(asked).toHaveLength(1);
  });
});

describe('faults that pass', () => {
  it.each<[string, Answer]>([
    ['429', (_, response) => json(response, {}, 429)],
    ['429 with a time to wait', (_, response) => json(response, {}, 429, { 'retry-after': '2' })],
    ['429 until a date', (_, response) => json(response, {}, 429, { 'retry-after': new Date(Date.now() + 2_000).toUTCString() })],
    ['500', (_, response) => json(response, { error: `about confidential ${key}` }, 500)],
    ['503 with a time to wait', (_, response) => json(response, {}, 503, { 'retry-after': '1' })],
    ['a connection that breaks', (_, response) => response.socket?.destroy()],
    [
      'an answer that breaks off',
      (_, response) => response.writeHead(200, { 'content-length': '1000' }).write('{"data":[', () => response.socket?.destroy()),
    ],
    ['JSON that ends too early', (_, response) => response.writeHead(200).end('{"data":[{"index":0,"embedding":[1,')],
    ['a number that is none', (_, response) => response.writeHead(200).end('{"data":[{"index":0,"embedding":[NaN,1,1]}]}')],
    ['null for a number', ({ input }, response) => json(response, { data: input.map((_, index) => ({ index, embedding: [null, 1, 1] })) })],
    [
      'not a number in Base64',
      ({ input }, response) =>
        json(response, {
          data: input.map((_, index) => ({ index, embedding: Buffer.from(Float32Array.of(Number.NaN, 1, 1).buffer).toString('base64') })),
        }),
    ],
    [
      'numbers beyond floats',
      ({ input }, response) => json(response, { data: input.map((_, index) => ({ index, embedding: [1e300, 1, 1] })) }),
    ],
    ['zeros', ({ input }, response) => json(response, { data: input.map((_, index) => ({ index, embedding: [0, 0, 0] })) })],
    ['too few', ({ input }, response) => json(response, { data: good(input).slice(1) })],
    ['too many', ({ input }, response) => json(response, { data: [...good(input), ...good(input)] })],
    [
      'the same text twice',
      ({ input }, response) => json(response, { data: good(input).map(({ embedding }) => ({ index: 0, embedding })) }),
    ],
    [
      'an index of no text',
      ({ input }, response) => json(response, { data: good(input).map(({ embedding, index }) => ({ index: index + 1, embedding })) }),
    ],
    ['HTML', (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>busy</html>')],
    ['something else', (_, response) => json(response, { data: { embedding: 'no' } })],
  ])('%s: is tried again', async (_, wrong) => {
    answer = atFirst(2, wrong);
    expect(await embedder().embed(texts, 'passage')).toEqual(expected);
    expect(asked).toHaveLength(3);
  });

  it('late: is cut off and tried again', async () => {
    answer = atFirst(1, () => timeOut());
    expect(await embedder().embed(texts, 'passage')).toEqual(expected);
    expect(asked).toHaveLength(2);
  });
});

describe('faults that stay', () => {
  it.each<[string, Answer, string, boolean]>([
    ['429', (_, response) => json(response, {}, 429), 'rate_limited', true],
    ['500', (_, response) => json(response, { error: `about confidential ${key}` }, 500), 'unavailable', true],
    ['resets', (_, response) => response.socket?.destroy(), 'unavailable', true],
    [
      'zeros',
      ({ input }, response) => json(response, { data: input.map((_, index) => ({ index, embedding: [0, 0, 0] })) }),
      'invalid_response',
      false,
    ],
    ['too few', (_, response) => json(response, { data: [] }), 'invalid_response', false],
  ])('%s: five attempts, then an error with a code', async (_, wrong, code, retryable) => {
    answer = wrong;
    expect(await failure(embedder().embed(['confidential'], 'passage'))).toMatchObject({ code, retryable });
    expect(asked).toHaveLength(5);
  });

  it('late each time', async () => {
    answer = () => timeOut();
    expect(await failure(embedder().embed(['confidential'], 'passage'))).toMatchObject({
      code: 'timeout',
      retryable: true,
    });
    expect(asked).toHaveLength(5);
  });

  it.each<[string, Answer, string]>([
    [
      'another dimension',
      ({ input }, response) => json(response, { data: input.map((_, index) => ({ index, embedding: [1, 2] })) }),
      'wrong_dimension',
    ],
    ['401', (_, response) => json(response, { error: `bad key ${key}` }, 401), 'unauthorized'],
    ['404', (_, response) => json(response, {}, 404), 'refused'],
    ['a redirect', (_, response) => json(response, {}, 307, { location: 'http://127.0.0.1:1/' }), 'refused'],
  ])('%s: one attempt', async (_, wrong, code) => {
    answer = wrong;
    expect(await failure(embedder().embed(['confidential'], 'passage'))).toMatchObject({ code, retryable: false });
    expect(asked).toHaveLength(1);
  });

  it('a rest that is too long to wait for is handed on', async () => {
    answer = (_, response) => json(response, {}, 429, { 'retry-after': '3600' });
    expect(await failure(embedder().embed(texts, 'passage'))).toMatchObject({
      code: 'rate_limited',
      retryable: true,
      retryAfterMs: 3_600_000,
    });
    expect(asked).toHaveLength(1);
  });

  it.each<[string, Answer, number, string]>([
    ['429', (_, response) => json(response, {}, 429), 2, 'rate_limited'],
    [
      '429 with a rest that is longer than a caller waits',
      (_, response) => json(response, {}, 429, { 'retry-after': '5' }),
      1,
      'rate_limited',
    ],
    ['500', (_, response) => json(response, {}, 500), 2, 'unavailable'],
    ['late', () => timeOut(), 1, 'timeout'],
  ])('%s: a question is not asked for long', async (_, wrong, attempts, code) => {
    answer = wrong;
    expect(await failure(embedder().embed(['confidential'], 'query'))).toMatchObject({
      code,
      retryable: true,
    });
    expect(asked).toHaveLength(attempts);
  });

  it('a question does not wait while the server rests, and passages do', async () => {
    answer = atFirst(1, (_, response) => json(response, {}, 429, { 'retry-after': '30' }));
    const slow = embedder({}, undefined, { clock: systemClock });
    const stop = new AbortController();
    const passages = slow.embed(texts, 'passage', { signal: stop.signal });
    const outcome = expect(passages).rejects.toThrow('enough');
    await expect.poll(() => asked.length).toBe(1);
    await expect.poll(() => failure(slow.embed(['x'], 'query'))).toMatchObject({ code: 'rate_limited', retryable: true });
    stop.abort(new Error('enough'));
    await outcome;
  });

  it('no server at all', async () => {
    expect(await failure(embedder({ baseURL: 'http://127.0.0.1:1' }).embed(['confidential'], 'query'))).toMatchObject({
      code: 'unavailable',
      retryable: true,
    });
  });

  it('a key that is missing', async () => {
    expect(await failure(embedder({}, {}).embed(['confidential'], 'query'))).toMatchObject({ code: 'misconfigured', retryable: false });
    expect(await failure(embedder({ apiKeyEnv: undefined, apiKeyFile: '/nowhere' }).embed(['x'], 'query'))).toMatchObject({
      code: 'misconfigured',
    });
    expect(asked).toEqual([]);
  });
});

describe('requests that are too large', () => {
  it.each([400, 413])('%i: are halved until they fit', async (status) => {
    answer = (request, response) => (request.input.length > 5 ? json(response, { error: 'too large' }, status) : fine(request, response));
    const many = Array.from({ length: 64 }, (_, index) => `text ${index}`);
    expect(await embedder().embed(many, 'passage')).toEqual(many.map((text) => Float32Array.from(vectorOf(`passage: ${text}`))));
  });

  it('give up at a single text, without asking for all the others', async () => {
    answer = (_, response) => json(response, { error: 'confidential is bad' }, 400);
    const many = Array.from({ length: 64 }, () => 'confidential');
    expect(await failure(embedder().embed(many, 'passage'))).toMatchObject({ code: 'refused', retryable: false });
    expect(asked.map(({ input }) => input.length)).toEqual([64, 32, 16, 8, 4, 2, 1]);
  });
});

describe('stopping', () => {
  it('ends at once with the reason of the caller', async () => {
    answer = () => undefined;
    const controller = new AbortController();
    const pending = embedder().embed(texts, 'passage', { signal: controller.signal });
    await expect.poll(() => asked).toHaveLength(1);
    controller.abort(new Error('not needed any more'));
    await expect(pending).rejects.toThrow('not needed any more');
  });

  it('stops the other requests when one has failed for good', async () => {
    answer = (request, response) => {
      if (request.input.length < 64) json(response, {}, 401);
    };
    expect(
      await failure(
        embedder().embed(
          Array.from({ length: 65 }, () => 'confidential'),
          'passage',
        ),
      ),
    ).toMatchObject({ code: 'unauthorized' });
  });
});
