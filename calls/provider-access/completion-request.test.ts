import { describe, expect, it } from 'vitest';

import { FakeClock, settle } from '../../test/support/fake-clock.ts';
import { called, calls, chunk, events, finish, modelAnswers, readingOf, says } from '../../test/support/model-answers.ts';
import type { ModelAnswer, ModelRequestObserver, RequestOutcome } from '../../platform/telemetry/gen-ai/model-requests.ts';
import type { ModelEvent } from '../model-stream/index.ts';
import { failuresOf } from './connection-failures.ts';
import { CompletionRequest, type CompletionRequestOptions } from './completion-request.ts';
import { ModelQuirks, parametersNamedIn, withoutParameters } from './model-quirks.ts';
import { ProviderError } from './provider-failure.ts';

const endpoint = {
  part: 'llm',
  provider: 'p',
  protocol: 'openai',
  guarded: false,
  baseURL: 'http://m',
  model: 'm',
  apiKey: 'key',
} as const;
const usage = { prompt_tokens: 1_000, completion_tokens: 1 };

/** A request to a server that sends what `body` gives it. */
function aRequest(body: ReadableStream<Uint8Array> | string, more: Partial<CompletionRequestOptions> = {}) {
  const ended: (readonly [RequestOutcome, ModelAnswer | undefined])[] = [];
  const observer: ModelRequestObserver = {
    begin: () => ({ firstChunk: () => undefined, end: (outcome, answer) => void ended.push([outcome, answer]) }),
  };
  const request = new CompletionRequest({
    endpoint,
    request: { model: 'm', stream: true },
    fetch: async (_url, { onSend } = {}) => {
      onSend?.();
      return new Response(body);
    },
    quirks: new ModelQuirks(),
    clock: new FakeClock(),
    observer,
    signal: new AbortController().signal,
    mayBeEmpty: () => false,
    ...more,
  });
  return { request, ended };
}

async function eventsOf(request: CompletionRequest, all: ModelEvent[] = []): Promise<readonly ModelEvent[]> {
  for await (const event of request.events()) all.push(event);
  return all;
}

/** A body that stays open. */
function opened() {
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  const body = new ReadableStream<Uint8Array>({ start: (given) => void (controller = given) });
  return { body, send: (text: string) => controller.enqueue(Buffer.from(text)), fail: () => controller.error(new Error('reset')) };
}

const open = (...chunks: readonly object[]): string => events(...chunks).replace('data: [DONE]\n\n', '');

describe('the answer to a request', () => {
  it.each(modelAnswers)(
    'is what the reader reads, or a failure without the words of the server: $name',
    async ({ name: _name, body, ...expected }) => {
      const { request, ended } = aRequest(body, { mayBeEmpty: () => true });
      const read = await eventsOf(request).then(readingOf, (error: unknown) => error);
      if (read instanceof ProviderError) {
        expect(['not_a_completion', 'unreadable', 'cut_off', 'error']).toContain(expected.reason);
        expect(read.message).not.toContain('overloaded');
        expect(ended).toMatchObject([[{ failure: read.kind }, {}]]);
      } else {
        expect(read).toEqual(expected);
        expect(ended).toMatchObject([['completed', {}]]);
      }
    },
  );

  it('is none where it has neither words nor calls', async () => {
    const { request, ended } = aRequest(events(chunk({ refusal: 'No.' }, 'content_filter')));
    await expect(eventsOf(request)).rejects.toMatchObject({ kind: 'empty', message: expect.stringContaining('content_filter') });
    expect(ended).toMatchObject([[{ failure: 'empty' }, { finishReasons: ['content_filter'] }]]);
  });

  it('has no calls where none were allowed', async () => {
    const body = events(says('One'), calls(called(0, 't0', 'a', '{}')), finish('tool_calls'));
    const { request } = aRequest(body, { request: { tool_choice: 'none' } });
    const { text, calls: made } = readingOf(await eventsOf(request));
    expect([text, made]).toEqual(['One', undefined]);
  });

  it('is complete although its server never stops sending', async () => {
    const clock = new FakeClock();
    let sent = 0;
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          controller.enqueue(Buffer.from(sent === 0 ? open(says('One'), finish('stop')) : ': keep-alive\n\n'));
          sent += 1;
          clock.tick(100);
        },
      },
      { highWaterMark: 0 },
    );
    expect(readingOf(await eventsOf(aRequest(body, { clock }).request))).toEqual({ text: 'One', reason: 'stop' });
    await settle();
    expect(sent).toBeLessThan(10);
  });

  it('is complete although its server keeps the connection open, or loses it', async () => {
    for (const loses of [true, false]) {
      const server = opened();
      const clock = new FakeClock();
      const { request, ended } = aRequest(server.body, { clock });
      const all = eventsOf(request);
      server.send(open(says('One'), finish('stop')));
      await settle();
      expect(clock.timers).toBe(1);
      if (loses) server.fail();
      else clock.tick(500);
      expect(readingOf(await all)).toEqual({ text: 'One', reason: 'stop' });
      expect(ended).toMatchObject([['completed', { text: 'One' }]]);
    }
  });

  it('is not complete while words come, although its server finishes with each chunk', async () => {
    const server = opened();
    const clock = new FakeClock();
    const all = eventsOf(aRequest(server.body, { clock }).request);
    for (const word of ['One ', 'two ', 'three.']) {
      server.send(open(chunk({ content: word }, 'stop')));
      await settle();
      clock.tick(400);
      await settle();
    }
    clock.tick(100);
    expect(readingOf(await all)).toEqual({ text: 'One two three.', reason: 'stop' });
  });

  it('that is complete leaves the connection for the next one', async () => {
    let left = 2;
    let cancelled = false;
    const body = new ReadableStream<Uint8Array>(
      {
        pull: (controller) => (left-- === 2 ? controller.enqueue(Buffer.from(events(says('One'), finish('stop')))) : controller.close()),
        cancel: () => void (cancelled = true),
      },
      { highWaterMark: 0 },
    );
    expect(readingOf(await eventsOf(aRequest(body).request)).text).toBe('One');
    await settle();
    expect([left, cancelled]).toEqual([0, false]);
  });

  it('that is given up has no usage, and what came of it', async () => {
    const server = opened();
    const abort = new AbortController();
    const { request, ended } = aRequest(server.body, { signal: abort.signal });
    const all = eventsOf(request).catch((error: unknown) => error);
    server.send(open(chunk({ content: 'One ' }, null, { usage }), says('two')));
    await settle();
    abort.abort();
    server.send(' ');
    expect(await all).toBe(abort.signal.reason);
    expect(ended).toEqual([['cancelled', expect.objectContaining({ usage: undefined, text: 'One two' })]]);
  });

  it('gives a call another id where the conversation has its own already', async () => {
    const { request } = aRequest(events(calls(called(0, 't0', 'a', '{}')), finish('stop')), { usedIds: new Set(['t0']) });
    const [call] = (await eventsOf(request)).flatMap((event) => (event.type === 'call' ? [event.call] : []));
    expect(call?.id).toMatch(/^call_[0-9a-f]{24}$/);
  });
});

describe('what a server refuses', () => {
  it.each([
    ['{"error":{"message":"Unsupported value","param":"temperature"}}', ['temperature']],
    ['{"error":{"message":"Unrecognized request argument supplied: stream_options","param":null}}', ['stream_options']],
    ['{"detail":[{"type":"extra_forbidden","loc":["body","parallel_tool_calls"]}]}', ['parallel_tool_calls']],
    ['{"error":{"message":"Extra inputs are not permitted","param":"body.stream_options"}}', ['stream_options']],
    ['{"detail":"This model does not support temperature."}', ['temperature']],
    ['{"error":{"message":"Unsupported parameter: temperature","type":"None","param":"None","code":"400"}}', ['temperature']],
    ["'max_tokens' is not supported. Use 'max_completion_tokens' instead.", ['max_tokens', 'max_completion_tokens']],
    ['{"error":{"message":"temperature is not allowed","param":"tools[0].function.parameters.temperature"}}', []],
    ['{"error":{"message":"no such model"}}', []],
    ['', []],
  ])('is what it names: %s', (said, named) => {
    expect(parametersNamedIn(said)).toEqual(named);
  });

  it.each([
    [['temperature'], { model: 'm', max_tokens: 5 }],
    [['max_tokens'], { model: 'm', temperature: 0, max_completion_tokens: 5 }],
    [['max_tokens', 'max_completion_tokens'], { model: 'm', temperature: 0 }],
  ] as const)('is left out, or has its other name: %j', (refused, expected) => {
    expect(withoutParameters({ model: 'm', temperature: 0, max_tokens: 5 }, new Set(refused))).toEqual(expected);
  });

  it('is not sent again once the server has taken the request without it', async () => {
    const quirks = new ModelQuirks();
    const answer = events(says('One'), finish('stop'));
    const refusing = (names: readonly string[]): Partial<CompletionRequestOptions> => ({
      quirks,
      request: { temperature: 0, stream_options: {}, model: 'm' },
      fetch: async (_url, { body, onSend } = {}) => {
        onSend?.();
        const refused = names.find((name) => (body as string).includes(`"${name}"`));
        if (refused !== undefined) throw failuresOf(endpoint).status(400, `{"error":{"param":"${refused}"}}`);
        return new Response(answer);
      },
    });
    const first = aRequest('', refusing(['temperature', 'stream_options']));
    expect(readingOf(await eventsOf(first.request)).text).toBe('One');
    expect(first.ended.map(([outcome]) => outcome)).toEqual([{ failure: '400' }, { failure: '400' }, 'completed']);
    const second = aRequest('', refusing(['temperature', 'stream_options']));
    await eventsOf(second.request);
    expect(second.ended).toHaveLength(1);
  });

  it('is not remembered where the request fails without it, too', async () => {
    const quirks = new ModelQuirks();
    const fetch = async () => Promise.reject(failuresOf(endpoint).status(400, 'the temperature in the prompt'));
    await expect(eventsOf(aRequest('', { quirks, fetch, request: { temperature: 0 } }).request)).rejects.toMatchObject({ status: 400 });
    expect(quirks.of(endpoint).refused.size).toBe(0);
  });
});
