/** Asks language models and speech over real HTTP, against a scripted server. */
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { ProviderKeyError, type ProviderKeyReader } from '../../../calls/provider-access/index.ts';
import { systemClock, type Clock } from '../../../platform/clock.ts';
import { openEgress, type TestEgress } from '../../support/open-egress.ts';
import { countTokens } from '../../../calls/usage/count-tokens.ts';
import { countedRequests } from '../../../calls/usage/counted-requests.ts';
import { PriceTable } from '../../../calls/usage/price-table.ts';
import { UsageMeter } from '../../../calls/usage/usage-meter.ts';
import {
  createProviders,
  ProviderError,
  providerFailureOf,
  type AnswerRequest,
  type CreateProvidersOptions,
  type Providers,
} from '../../../voice/providers/index.ts';
import { aQuestion, aTool, heardOf } from '../../support/answers.ts';
import { eventually } from '../../support/eventually.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { hastyVoice } from '../../support/hasty-voice.ts';
import { startProviderServer, type ChatScript } from '../../support/provider-server.ts';
import { recognize } from '../../support/speech-recognition.ts';
import { spokenBy } from '../../support/speech-synthesis.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { frequencyOf, heardFrequency, tone } from '../../support/tones.ts';

const key = 'sk-very-secret-key';
const prompt = 'The words of the caller.';
/** This clock has short pauses between attempts. */
const impatient: Clock = { ...systemClock, after: (ms, then) => systemClock.after(ms <= 4_000 ? ms / 20 : ms, then) };

const server = suiteFixture(startProviderServer);
let egress: TestEgress;
let opened: Providers[];

beforeEach(() => {
  egress = openEgress();
  opened = [];
});
afterEach(async () => {
  await Promise.all(opened.map((providers) => providers.close()));
  egress.close();
  server.reset();
});

type Agent = CreateProvidersOptions['agent'];
const keys: ProviderKeyReader = { read: async () => key };
const ref = { name: 'keys', key: 'api-key' };

interface Change {
  readonly language?: string;
  readonly llm?: Partial<Agent['llm']>;
  readonly speechToText?: Partial<Agent['speechToText']>;
  readonly textToSpeech?: Partial<Agent['textToSpeech']>;
  readonly options?: Partial<CreateProvidersOptions>;
}

/** Makes providers that all lead to the test's server as the operator's, unless it is said otherwise. */
async function providersOf({ options, ...change }: Change = {}): Promise<Providers> {
  const agent = {
    language: change.language ?? 'en-US',
    llm: { provider: 'openai', model: 'a-model', apiKeySecretRef: ref, ...change.llm },
    speechToText: { provider: 'openai', apiKeySecretRef: ref, ...change.speechToText },
    textToSpeech: { provider: 'openai', voice: {}, temperature: '0.5', apiKeySecretRef: ref, ...change.textToSpeech },
  } as Agent;
  const providers = await createProviders({
    org: 'acme',
    agent,
    keys,
    egress,
    defaults: [{ name: 'openai', baseURL: server.url }],
    logger: pino({ level: 'silent' }),
    env: {},
    ...options,
  });
  opened.push(providers);
  return providers;
}

function answering(providers: Providers, change: Partial<AnswerRequest> = {}, signal = new AbortController().signal) {
  return providers.llm.answer(aQuestion(prompt, change), signal);
}

const answerOf = async (providers: Providers): Promise<string> => (await heardOf(answering(providers))).text;

/** Returns the error that the answer fails with. */
const failureOf = async (providers: Providers): Promise<ProviderError> => providerFailureOf(await caught(answerOf(providers)), 'llm');

const spoken = ({ tts }: Providers, text: string): Promise<Int16Array> => spokenBy(tts, text);

const speech = (seconds = 1): Int16Array => tone({ frequency: 700, seconds, sampleRate: 16_000 });

const caught = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('a language model', () => {
  it('is asked with the settings of the agent, and nothing of LiveKit', async () => {
    server.chat(() => 'All is well.');
    const providers = await providersOf({ llm: { temperature: '0', maxTokens: 77 } });
    expect(await answerOf(providers)).toBe('All is well.');
    const [request] = server.requests('chat');
    expect(request).toMatchObject({ model: 'a-model', lastUser: prompt, headers: { authorization: `Bearer ${key}` } });
    expect(request?.body).toMatchObject({ temperature: 0, max_completion_tokens: 77, stream: true });
    // Without a setting the model's own temperature counts.
    await answerOf(await providersOf());
    expect(server.requests('chat').at(-1)?.body).not.toHaveProperty('temperature');
    expect(Object.keys(request?.headers ?? {}).filter((name) => name.startsWith('x-'))).toEqual([]);
  });

  it('hands out words before the answer is complete', async () => {
    const held = Promise.withResolvers<void>();
    server.chat(() => ({ text: ['One', ' two'], holdRest: held.promise }));
    const answer = answering(await providersOf());
    expect((await answer.next()).value).toEqual({ type: 'text', text: 'One' });
    held.resolve();
    expect((await answer.next()).value).toEqual({ type: 'text', text: ' two' });
  });

  it('may call two tools at once', async () => {
    server.chat(() => ({
      toolCalls: [
        { name: 'first', arguments: { a: 1 } },
        { name: 'second', arguments: '{"b":' },
      ],
    }));
    const { calls } = await heardOf(answering(await providersOf(), { tools: [aTool('second'), aTool('first')] }));
    expect(calls).toMatchObject([
      { call: { name: 'first', arguments: '{"a":1}' }, complete: true },
      // Half of an object is passed on as the text that it is.
      { call: { name: 'second', arguments: '{"b":', problem: 'incomplete' }, complete: true },
    ]);
    expect(server.requests('chat')[0]?.toolNames).toEqual(['first', 'second']);
  });

  it.each([
    ['google', [undefined, { type: 'object', properties: { place: { type: 'string' } } }]],
    [
      'openai',
      [
        { type: 'object', properties: {} },
        { type: 'object', properties: { place: { type: 'string' } } },
      ],
    ],
  ] as const)('is offered tools without parameters as %s takes them', async (provider, schemas) => {
    const providers = await providersOf({ llm: { provider }, options: { defaults: [{ name: provider, baseURL: server.url }] } });
    await heardOf(answering(providers, { tools: [aTool('tool-0'), aTool('tool-1', { place: { type: 'string' } })] }));
    const tools = server.requests('chat')[0]?.body['tools'] as readonly { readonly function: { readonly parameters?: object } }[];
    for (const [index, schema] of schemas.entries()) {
      if (schema === undefined) expect(tools[index]?.function).not.toHaveProperty('parameters');
      else expect(tools[index]?.function.parameters).toMatchObject(schema);
    }
  });

  it('is asked again for a passing reason', async () => {
    server.chat(() => (server.requests('chat').length < 2 ? { status: 503 } : 'Here I am.'));
    expect(await answerOf(await providersOf())).toBe('Here I am.');
  });

  it('is aborted when its answer is no longer needed', async () => {
    const held = Promise.withResolvers<void>();
    server.chat(() => ({ text: ['One', ' two'], holdRest: held.promise }));
    const answer = answering(await providersOf());
    await answer.next();
    await answer.return();
    await eventually(() => expect(server.requests('chat')[0]?.abandoned).toBe(true));
    held.resolve();
  });

  it('fails with the reason for which it is aborted', async () => {
    const held = Promise.withResolvers<void>();
    server.chat(() => ({ text: ['One', ' two'], holdRest: held.promise }));
    const over = new AbortController();
    const answer = answering(await providersOf(), {}, over.signal);
    await answer.next();
    const rest = answer.next();
    over.abort(new Error('the call is over'));
    await expect(rest).rejects.toThrow('the call is over');
    await eventually(() => expect(server.requests('chat')[0]?.abandoned).toBe(true));
    held.resolve();
  });

  it.each<[string, ChatScript, Partial<ProviderError>, number]>([
    ['refuses', { status: 401 }, { kind: 'refused', status: 401 }, 1],
    ['knows no such model', { status: 404 }, { kind: 'refused', status: 404 }, 1],
    ['redirects', { status: 302, raw: '', headers: { location: 'http://127.0.0.1:1/' } }, { kind: 'refused', status: 302 }, 1],
    ['limits requests', { status: 429 }, { kind: 'runtime', status: 429 }, 3],
    ['fails', { status: 500 }, { kind: 'runtime', status: 500 }, 3],
    ['closes the connection', { drop: true }, { kind: 'unreachable' }, 3],
    ['breaks off', { text: ['One', ' two', ' three'], breakAfter: 2 }, { kind: 'connection_lost' }, 1],
    ['sends a page', { raw: '<html>It works!</html>', headers: { 'content-type': 'text/html' } }, { kind: 'payload' }, 3],
    ['sends half an event', { raw: 'data: {"choices":[{"del\n\n' }, { kind: 'payload' }, 3],
    [
      'ends without an end',
      { raw: 'data: {"id":"1","choices":[{"index":0,"delta":{"content":"One"}}]}\n\n' },
      { kind: 'connection_lost' },
      1,
    ],
    ['reports an error', { raw: 'data: {"error":{"message":"leaked-by-the-provider"}}\n\ndata: [DONE]\n\n' }, { kind: 'runtime' }, 3],
  ])('that %s is named', async (_what, script, failure, attempts) => {
    server.chat(() => script);
    const clock = new FakeClock();
    const failed = failureOf(await providersOf({ options: { clock } }));
    for (const pauseMs of [100, 500].slice(0, attempts - 1)) {
      await eventually(() => expect(clock.nextIn).toBe(pauseMs), 5);
      clock.tick(pauseMs);
    }
    const found = await failed;
    expect(found).toMatchObject({ part: 'llm', provider: 'openai', ...failure });
    expect(server.requests('chat')).toHaveLength(attempts);
    // A log has the message, the cause and every field.
    const logged = JSON.stringify(pino.stdSerializers.err(found)) + JSON.stringify(found) + String(found.cause);
    for (const secret of [key, prompt, 'leaked-by-the-provider']) expect(logged).not.toContain(secret);
  });

  it('that stalls is given up', async () => {
    const held = Promise.withResolvers<void>();
    server.chat(() => ({ text: ['One', ' two'], holdRest: held.promise }));
    const clock = new FakeClock();
    const answer = answering(await providersOf({ options: { clock } }));
    await answer.next();
    const tick = setInterval(() => clock.tick(1_000), 20);
    try {
      expect(providerFailureOf(await caught(heardOf(answer)), 'llm')).toMatchObject({ kind: 'connection_lost' });
    } finally {
      clearInterval(tick);
      held.resolve();
    }
  });

  it.each([
    ['llm', 2],
    ['stt', 1],
    ['tts', 1],
  ] as const)('is not asked again when it takes all the time there is (%s, %i at once)', async (part, requests) => {
    const held = Promise.withResolvers<void>();
    const slow = { holdHead: held.promise };
    server.chat(() => slow);
    server.heard(() => slow);
    server.speech(() => slow);
    const clock = new FakeClock();
    const providers = await providersOf({ options: { clock } });
    const tick = setInterval(() => clock.tick(1_000), 20);
    try {
      const error = await caught(
        part === 'llm' ? answerOf(providers) : part === 'stt' ? recognize(providers.stt, speech()) : spoken(providers, 'Hello to you.'),
      );
      expect(providerFailureOf(error, part)).toMatchObject({ part, kind: 'unreachable', slow: true });
      expect(server.requests()).toHaveLength(requests);
    } finally {
      clearInterval(tick);
      held.resolve();
    }
  });

  it.each([
    ['temperature', { temperature: '0' }, {}],
    ['stream_options', {}, {}],
    ['max_tokens', { provider: 'groq', maxTokens: 5 }, { max_completion_tokens: 5 }],
    ['max_completion_tokens', { maxTokens: 5 }, { max_tokens: 5 }],
  ] as const)('that refuses %s is asked once more without it, and then never with it', async (param, change, instead) => {
    const { provider = 'openai' } = change as { readonly provider?: string };
    const model = `refuses-${param}`;
    const error = { message: `Unsupported parameter: '${param}' is not supported with this model.`, param, code: 'unsupported_parameter' };
    server.chat(({ body }) => (param in body ? { status: 400, raw: JSON.stringify({ error }) } : 'Here I am.'));
    const options = { defaults: [provider, 'openai'].map((name) => ({ name, baseURL: server.url })) };
    for (const requests of [2, 3]) {
      expect(await answerOf(await providersOf({ llm: { ...change, model }, options }))).toBe('Here I am.');
      expect(server.requests('chat')).toHaveLength(requests);
    }
    expect(server.requests('chat').at(-1)?.body).toMatchObject(instead);
  });

  it('that refuses something else is not asked again', async () => {
    const error = {
      message: 'Invalid schema: tools[0].function.parameters.temperature',
      param: 'tools[0].function.parameters.temperature',
    };
    server.chat(() => ({ status: 400, raw: JSON.stringify({ error }) }));
    expect(await failureOf(await providersOf())).toMatchObject({ kind: 'refused', status: 400 });
    expect(server.requests('chat')).toHaveLength(1);
  });

  it.each([
    ['groq', 'max_tokens'],
    ['azure_openai', 'max_completion_tokens'],
  ] as const)('of %s has its own name for the longest answer', async (provider, field) => {
    const providers = await providersOf({
      llm: { provider, maxTokens: 5 },
      options: {
        defaults: [
          { name: provider, baseURL: server.url },
          { name: 'openai', baseURL: server.url },
        ],
      },
    });
    await answerOf(providers);
    expect(server.requests('chat')[0]?.body).toMatchObject({ [field]: 5 });
    expect(server.requests('chat')[0]?.headers['api-key']).toBe(provider === 'azure_openai' ? key : undefined);
  });
});

describe('what a language model is paid for', () => {
  /** Returns what was counted, next to what the provider has counted. */
  async function counted(ask: (providers: Providers) => Promise<void>) {
    const meter = new UsageMeter({ prices: new PriceTable([]), clock: systemClock });
    await ask(await providersOf({ options: { observer: countedRequests({ meter, purpose: 'conversation', countTokens }) } }));
    await meter.settled();
    const { requests = 0, inputTokens = 0, outputTokens = 0 } = meter.takeUnstored()?.lines[0] ?? {};
    const billed = server.requests('chat').map((request) => request.billed);
    const sum = (name: 'inputTokens' | 'outputTokens') => billed.reduce((all, one) => all + one[name], 0);
    const provider = { requests: billed.length, inputTokens: sum('inputTokens'), outputTokens: sum('outputTokens') };
    return { platform: { requests, inputTokens, outputTokens }, provider };
  }
  beforeEach(() => server.limitContext(1_000_000));

  it('is counted of an answer, of one that is given up in the middle, and of one before its first word', async () => {
    const held = Promise.withResolvers<void>();
    const scripts: ChatScript[] = [
      { text: 'All is well.' },
      { text: ['All', ' is well.'], holdRest: held.promise },
      { text: 'Never.', holdHead: held.promise },
    ];
    server.chat(() => scripts.shift() ?? '');
    const { platform, provider } = await counted(async (providers) => {
      await answerOf(providers);
      for (const parts of [1, 0]) {
        const over = new AbortController();
        const answer = answering(providers, {}, over.signal);
        const first = answer.next();
        if (parts > 0) await first;
        else await eventually(async () => expect(server.requests('chat')).toHaveLength(3));
        over.abort();
        await caught(first);
      }
      await eventually(async () => expect(server.requests('chat').filter(({ abandoned }) => abandoned)).toHaveLength(2));
    });
    held.resolve();
    expect(provider.outputTokens).toBeGreaterThan(0);
    expect(platform).toEqual(provider);
  });

  it('is nothing where it refuses', async () => {
    server.chat(() => ({ status: 400 }));
    const { platform } = await counted(async (providers) => void (await caught(answerOf(providers))));
    expect(server.requests('chat')).toHaveLength(1);
    expect(platform.requests).toBe(0);
  });
});

describe('speech to text', () => {
  it('sends a turn in the language of the agent', async () => {
    server.hear('guten Tag');
    const { stt } = await providersOf({ language: 'de-DE', speechToText: { model: 'whisper-9' } });
    expect(await recognize(stt, speech())).toBe('guten Tag');
    expect(server.requests('transcriptions')[0]).toMatchObject({
      language: 'de',
      model: 'whisper-9',
      frequency: 700,
      seconds: 1,
      headers: { authorization: `Bearer ${key}` },
    });
  });

  it('asks again for a passing reason, and no request is made for a click', async () => {
    server.hear({ status: 500 }, { drop: true }, 'third time');
    const { stt } = await providersOf();
    expect(await recognize(stt, speech())).toBe('third time');
    expect(await recognize(stt, speech(0.05))).toBe('');
    expect(server.requests('transcriptions')).toHaveLength(3);
  });

  it.each([
    [{ status: 403 }, { kind: 'refused', status: 403 }, 1],
    [{ status: 502 }, { kind: 'runtime', status: 502 }, 6],
    [{ drop: true }, { kind: 'unreachable' }, 6],
    [{ raw: '<html>' }, { kind: 'payload' }, 6],
    [{ raw: '{"words":[]}' }, { kind: 'payload' }, 6],
  ])('that answers with %j is named', async (script, failure, attempts) => {
    server.heard(() => script);
    const { stt } = await providersOf({ options: { clock: impatient } });
    const error = await caught(recognize(stt, speech()));
    expect(providerFailureOf(error, 'stt')).toMatchObject({ part: 'stt', provider: 'openai', ...failure });
    expect(server.requests('transcriptions')).toHaveLength(attempts);
  });
});

describe('text to speech', () => {
  it('is heard before the provider has sent it all', async () => {
    const held = Promise.withResolvers<void>();
    server.speech(() => ({ holdRest: held.promise }));
    const { voice, samples, silent } = hastyVoice((await providersOf()).tts);
    voice.say(1, 'This is one sentence. ');
    voice.sayNoMore(1);
    await eventually(() => expect(samples.length).toBeGreaterThanOrEqual(480));
    held.resolve();
    await silent;
    // Each character takes 40 ms.
    expect(samples).toHaveLength(21 * 0.04 * 24_000);
  });

  it('is asked for a sentence as soon as it is complete, and for the next one meanwhile', async () => {
    const held = Promise.withResolvers<void>();
    server.speech(({ input }) => (input.startsWith('The first') ? { holdRest: held.promise } : {}));
    const { voice, samples, silent } = hastyVoice((await providersOf()).tts);
    voice.say(1, 'The first sentence is here. The second');
    await eventually(() => expect(server.requests('speech')).toHaveLength(1));
    voice.say(1, ' sentence follows it. And a third one comes. And a fourth one.');
    voice.sayNoMore(1);
    await eventually(() => expect(server.requests('speech')).toHaveLength(2));
    held.resolve();
    await silent;
    const sentences = ['The first sentence is here.', 'The second sentence follows it.', 'And a third one comes.', 'And a fourth one.'];
    expect(new Set(server.requests('speech').map(({ input }) => input))).toEqual(new Set(sentences));
    // The sounds come in their order, whichever came first.
    let at = 0;
    for (const input of sentences) {
      const length = input.length * 0.04 * 24_000;
      expect(heardFrequency(Int16Array.from(samples.slice(at + 1_000, at + length - 1_000)), 24_000)).toBe(frequencyOf(input));
      at += length;
    }
  });

  it('is not asked for more than is on its way and the next', async () => {
    const held = Promise.withResolvers<void>();
    server.speech(() => ({ holdHead: held.promise }));
    const { voice } = hastyVoice((await providersOf()).tts);
    voice.say(1, 'The first sentence is here. The second sentence is here. The third sentence is here. And so on.');
    voice.sayNoMore(1);
    await eventually(() => expect(server.inFlight).toBe(2));
    voice.cancel(1);
    // An interruption ends both, and asks for no other.
    await eventually(() => expect(server.requests('speech').filter(({ abandoned }) => abandoned)).toHaveLength(2));
    held.resolve();
    expect(server.requests('speech')).toHaveLength(2);
  });

  it('sends voice and model, to servers other than OpenAI language and temperature, too', async () => {
    const providers = await providersOf({
      language: 'fr-FR',
      textToSpeech: { model: 'loud', voice: { id: 'anna', name: 'Anna' }, temperature: '1.2' },
    });
    await spoken(providers, 'Bonjour tout le monde.');
    expect(server.requests('speech')[0]?.body).toEqual({
      input: 'Bonjour tout le monde.',
      model: 'loud',
      voice: 'anna',
      response_format: 'pcm',
      language: 'fr-FR',
      temperature: 1.2,
    });
  });

  it('is asked again for a passing reason, and nothing is heard twice', async () => {
    server.speech(() => (server.requests('speech').length < 2 ? { status: 503 } : {}));
    const samples = await spoken(await providersOf(), 'Here I am again.');
    expect(heardFrequency(samples.subarray(0, 12_000), 24_000)).toBe(frequencyOf('Here I am again.'));
    expect(samples).toHaveLength(16 * 0.04 * 24_000);
  });

  it.each([
    [{ status: 402 }, { kind: 'refused', status: 402 }, 1],
    [{ status: 503 }, { kind: 'runtime', status: 503 }, 3],
    [{ drop: true }, { kind: 'unreachable' }, 3],
    [{ raw: '', headers: { 'content-type': 'audio/pcm' } }, { kind: 'payload' }, 3],
    [{ raw: '{"error":"no"}', headers: { 'content-type': 'application/json' } }, { kind: 'payload' }, 3],
    [{ breakAfterMs: 200 }, { kind: 'connection_lost' }, 1],
  ])('that answers with %j is named', async (script, failure, attempts) => {
    server.speech(() => script);
    const providers = await providersOf({ options: { clock: impatient } });
    const error = await caught(spoken(providers, 'This is to be heard.'));
    expect(error).toMatchObject({ part: 'tts', provider: 'openai', ...failure });
    expect(server.requests('speech')).toHaveLength(attempts);
  });
});

describe('where they are reached', () => {
  const own = { provider: 'openai_compatible', apiKeySecretRef: undefined } as const;

  it("the operator's key goes to the operator's address, never to an agent's", async () => {
    const defaults = [
      { name: 'openai', baseURL: server.url, apiKeyEnv: 'OPERATORS_KEY' },
      { name: 'openai_compatible', apiKeyEnv: 'OPERATORS_KEY' },
    ];
    egress.close();
    egress = openEgress({ allowCidrs: ['127.0.0.0/8'] });
    const providers = await providersOf({
      llm: { ...own, baseURL: `${server.url}/` },
      textToSpeech: { apiKeySecretRef: undefined },
      options: { defaults, env: { OPERATORS_KEY: 'operators-key' }, egress },
    });
    await answerOf(providers);
    await spoken(providers, 'This is to be heard.');
    expect(server.requests('chat')[0]?.headers.authorization).toBeUndefined();
    expect(server.requests('speech')[0]?.headers.authorization).toBe('Bearer operators-key');
  });

  it.each(['llm', 'stt', 'tts'] as const)('an address that an agent chose passes the guard (%s)', async (part) => {
    const guarded = { ...own, baseURL: server.url };
    const providers = await providersOf({
      ...(part === 'llm' && { llm: guarded }),
      ...(part === 'stt' && { speechToText: guarded }),
      ...(part === 'tts' && { textToSpeech: guarded }),
    });
    const error = await caught(
      part === 'llm'
        ? answerOf(providers)
        : part === 'stt'
          ? recognize(providers.stt, speech())
          : spoken(providers, 'This is to be heard.'),
    );
    expect(providerFailureOf(error, part)).toMatchObject({
      part,
      kind: 'refused',
      provider: 'openai_compatible',
      message: expect.stringContaining('public internet'),
    });
    expect(server.requests()).toEqual([]);
  });

  it("a server in a provider's stead is asked with its own models and voice, whatever the provider is", async () => {
    const stead = { baseURL: server.url, llmModel: 'my-llm', sttModel: 'my-ears', ttsModel: 'my-mouth', voice: 'my-voice' };
    const providers = await providersOf({
      llm: { provider: 'anthropic' },
      speechToText: { provider: 'deepgram', model: 'nova-3' },
      textToSpeech: { provider: 'elevenlabs', voice: { id: '21m00' } },
      options: { defaults: ['anthropic', 'deepgram', 'elevenlabs'].map((name) => Object.assign({ name }, stead)) },
    });
    await answerOf(providers);
    await recognize(providers.stt, speech());
    await spoken(providers, 'This is to be heard.');
    expect(server.requests('chat')[0]?.model).toBe('my-llm');
    expect(server.requests('transcriptions')[0]?.model).toBe('my-ears');
    expect(server.requests('speech')[0]).toMatchObject({ model: 'my-mouth', voice: 'my-voice' });
  });

  it.each<[string, Change, Partial<ProviderError>]>([
    [
      'a service without a key',
      { textToSpeech: { provider: 'cartesia', apiKeySecretRef: undefined } },
      { part: 'tts', kind: 'refused', provider: 'cartesia' },
    ],
    ['a model without an address', { llm: own }, { part: 'llm', kind: 'refused', provider: 'openai_compatible' }],
    ['a missing region', { speechToText: { provider: 'azure' } }, { part: 'stt', kind: 'refused', provider: 'azure' }],
    [
      'a Secret that is missing',
      { options: { keys: { read: async () => Promise.reject(new ProviderKeyError('missing', 'Secret acme/keys does not exist')) } } },
      { kind: 'refused', provider: 'openai', message: expect.stringContaining('Secret acme/keys does not exist') },
    ],
    [
      'a key of the operator that is missing',
      {
        llm: { apiKeySecretRef: undefined },
        options: { defaults: [{ name: 'openai', baseURL: 'http://127.0.0.1:1', apiKeyEnv: 'NOWHERE' }] },
      },
      { part: 'llm', kind: 'refused', message: expect.stringContaining('NOWHERE') },
    ],
  ])('refuses %s before anything is sent', async (_what, change, failure) => {
    const error = await caught(providersOf(change));
    expect(error).toBeInstanceOf(ProviderError);
    expect(error).toMatchObject(failure);
  });

  it('a plugin of LiveKit that fails by itself is named, too', () => {
    const failure = providerFailureOf({ type: 'stt_error', error: new Error(`${key} ${prompt}`), recoverable: false }, 'stt');
    expect(failure).toMatchObject({ part: 'stt', kind: 'runtime', provider: 'unknown' });
    expect(failure.message).not.toContain(key);
  });
});
