/** Providers with fallbacks over real HTTP: what a caller would hear, and who was asked for it. */
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { aMessage, aQuestion, aTool, heardOf } from '../../support/answers.ts';
import { FakeClock, settle } from '../../support/fake-clock.ts';
import { systemClock } from '../../../platform/clock.ts';
import { observeModelRequests, type Measurement } from '../../../platform/telemetry/gen-ai/model-requests.ts';
import { ProviderKeyError } from '../../../calls/provider-access/index.ts';
import { LATE_MS } from '../../../calls/fallback/provider-order.ts';
import { openEgress, type TestEgress } from '../../support/open-egress.ts';
import {
  createProviders,
  providerFailureOf,
  type AnswerRequest,
  type CreateProvidersOptions,
  type Providers,
} from '../../../voice/providers/index.ts';
import { called, calls, chunk, events, finish, says } from '../../support/model-answers.ts';
import {
  startProviderServer,
  type ChatScript,
  type TranscriptionScript,
  type ProviderServer,
  type SpeechScript,
} from '../../support/provider-server.ts';
import { recognize } from '../../support/speech-recognition.ts';
import { spokenBy } from '../../support/speech-synthesis.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { tone } from '../../support/tones.ts';

const SENTENCES = ['We are open from nine to six, Monday to Friday.', 'Shall I book an appointment for you?'] as const;
const LONG = SENTENCES.join(' ');

const preferred = suiteFixture(startProviderServer);
const fallback = suiteFixture(startProviderServer);
let egress: TestEgress;
let opened: Providers[];
let takeovers: string[];
/** Of a call in which nothing is late: it stands still until a test moves it. */
let clock: FakeClock;

beforeEach(() => {
  egress = openEgress({ allowCidrs: ['127.0.0.0/8'] });
  opened = [];
  takeovers = [];
  clock = new FakeClock();
});
afterEach(async () => {
  await Promise.all(opened.map((providers) => providers.close()));
  egress.close();
  preferred.reset();
  fallback.reset();
});

/** For tests of one that is late. */
const passing = { clock: systemClock };

type Agent = CreateProvidersOptions['agent'];

/** Each part with one fallback, unless it is said otherwise. */
async function providersOf(
  change: { readonly [P in 'llm' | 'speechToText' | 'textToSpeech']?: Partial<Agent[P]> } = {},
  more: Partial<CreateProvidersOptions> = {},
) {
  const at = ({ url: baseURL }: ProviderServer, model: string) => ({ provider: 'openai_compatible', baseURL, model });
  const part = (name: string) => ({ ...at(preferred, name), fallbacks: [at(fallback, `other-${name}`)] });
  const agent = {
    language: 'en-US',
    llm: { temperature: '0', ...part('model'), ...change.llm },
    speechToText: { ...part('ears'), ...change.speechToText },
    textToSpeech: { voice: {}, temperature: '0.5', ...part('voice'), ...change.textToSpeech },
  } as unknown as Agent;
  const providers = await createProviders({
    org: 'acme',
    agent,
    keys: { read: async () => 'a-key' },
    egress,
    defaults: [],
    logger: pino({ level: 'silent' }),
    onTakeover: (name) => takeovers.push(name),
    env: {},
    clock,
    ...more,
  });
  opened.push(providers);
  return providers;
}

const QUESTION = 'When are you open?';

function ask(providers: Providers, change: Partial<AnswerRequest> = {}, signal = new AbortController().signal) {
  return providers.llm.answer(aQuestion(QUESTION, change), signal);
}

async function answerOf(providers: Providers, change: Partial<AnswerRequest> = {}) {
  const { text, calls: made } = await heardOf(ask(providers, change));
  return { text, tools: made.map(({ call }) => `${call.name} ${call.arguments}`) };
}

const failureOf = async (providers: Providers) => providerFailureOf(await answerOf(providers).catch((error: unknown) => error), 'llm');

/** @returns how long it is, in milliseconds: the servers speak 40 ms for each character */
async function spokenMs({ tts }: Providers, ...sentences: readonly string[]): Promise<number> {
  return Math.round((await spokenBy(tts, ...sentences)).length / 24);
}

const inputs = (server: ProviderServer): readonly string[] => server.requests('speech').map(({ input }) => input);
const failing: readonly (readonly [string, ChatScript & SpeechScript])[] = [
  ['refuses the key', { status: 401 }],
  ['fails', { status: 500 }],
  ['breaks the connection', { drop: true }],
  ['sends a page', { raw: '<html>', headers: { 'content-type': 'text/html' } }],
];

describe('a language model', () => {
  it.each(failing)('that %s is replaced, once for both answers', async (_how, script) => {
    preferred.chat(() => script);
    fallback.chat(() => LONG);
    const providers = await providersOf();
    expect(await answerOf(providers)).toEqual({ text: LONG, tools: [] });
    expect(await answerOf(providers)).toEqual({ text: LONG, tools: [] });
    expect([preferred.requests('chat').length, fallback.requests('chat').length]).toEqual([1, 2]);
    expect(takeovers).toEqual(['llm']);
    expect(providers.llm.model).toBe('other-model');
  });

  it('is asked with settings of its own, or else with those of the preferred one', async () => {
    preferred.chat(() => ({ status: 500 }));
    fallback.chat(() => LONG);
    const other = { provider: 'openai_compatible', baseURL: fallback.url, model: 'm' } as const;
    for (const [own, sent] of [
      [{}, { temperature: 0.7, max_tokens: 100 }],
      [
        { temperature: '0', maxTokens: 7 },
        { temperature: 0, max_tokens: 7 },
      ],
    ] as const) {
      await answerOf(await providersOf({ llm: { temperature: '0.7', maxTokens: 100, fallbacks: [{ ...other, ...own }] } }));
      expect(fallback.requests('chat').at(-1)?.body).toMatchObject(sent);
    }
    expect(preferred.requests('chat').at(-1)?.body).toMatchObject({ temperature: 0.7, max_tokens: 100 });
  });

  it('that is late is asked no more: the other answers, and one answer is heard', async () => {
    const held = Promise.withResolvers<void>();
    preferred.chat(() => ({ text: 'Too late.', holdHead: held.promise }));
    fallback.chat(() => LONG);
    const providers = await providersOf({}, passing);
    expect(await answerOf(providers)).toEqual({ text: LONG, tools: [] });
    await expect.poll(() => preferred.requests('chat')[0]?.abandoned).toBe(true);
    held.resolve();
  });

  it('that is a little late is heard where it is the first to answer', async () => {
    const asking = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    preferred.chat(() => ({ text: LONG, holdHead: asking.promise }));
    fallback.chat(() => {
      asking.resolve();
      return { text: 'Not needed.', holdHead: held.promise };
    });
    expect(await answerOf(await providersOf({}, passing))).toEqual({ text: LONG, tools: [] });
    await expect.poll(() => fallback.requests('chat')[0]?.abandoned).toBe(true);
    expect(takeovers).toEqual([]);
    held.resolve();
  });

  it.each([
    ['goes on', 'nine to six, Monday to Friday. Shall I book an appointment for you?'],
    ['begins again', LONG],
  ])('that breaks off is continued by the next, which %s: each word is heard once', async (_how, rest) => {
    preferred.chat(() => ({ text: LONG, breakAfter: 5 }));
    fallback.chat(() => rest);
    const providers = await providersOf();
    expect(await answerOf(providers)).toEqual({ text: LONG, tools: [] });
    const [request] = fallback.requests('chat');
    expect(request?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    expect(request?.messages[1]?.content).toMatch(/^We are open/);
    expect(takeovers).toEqual(['llm']);
  });

  it('that goes silent in the middle of an answer is continued, too', async () => {
    const held = Promise.withResolvers<void>();
    preferred.chat(() => ({ text: LONG.split(/(?<=from )/), holdRest: held.promise }));
    fallback.chat(() => LONG);
    expect(await answerOf(await providersOf({}, passing))).toEqual({ text: LONG, tools: [] });
    held.resolve();
  });

  const tools = [aTool('book', { day: { type: 'string' } })];

  it.each([
    ['in the middle of a sentence', ['We are open from ', 'nine.'], 900],
    ['between sentences, once the caller has heard what it said', ['One moment, I look. ', 'We are open.'], 1_334],
  ])('that goes silent %s, with tools, is waited for so long', async (_where, text, limitMs) => {
    const held = Promise.withResolvers<void>();
    preferred.chat(() => ({ text, holdRest: held.promise }));
    fallback.chat(() => text.join(''));
    const providers = await providersOf();
    const answer = ask(providers, { tools });
    await answer.next();
    const rest = heardOf(answer);
    await settle();
    clock.tick(limitMs - 1);
    await settle();
    expect(fallback.requests('chat')).toEqual([]);
    clock.tick(1);
    await expect.poll(() => fallback.requests('chat')).toHaveLength(1);
    held.resolve();
    await rest;
  });

  it('that is slow with the arguments of a tool is waited for', async () => {
    const held = Promise.withResolvers<void>();
    preferred.chat(() => ({
      text: ['One ', 'moment'],
      toolCalls: [{ name: 'book', arguments: { day: 'Monday' } }],
      holdArguments: held.promise,
    }));
    const providers = await providersOf();
    const answer = ask(providers, { tools });
    await answer.next();
    const rest = heardOf(answer);
    await settle();
    clock.tick(1_900);
    await settle();
    held.resolve();
    expect((await rest).calls.map(({ call }) => call.arguments)).toEqual(['{"day":"Monday"}']);
    expect(fallback.requests('chat')).toEqual([]);
  });

  it('calls a tool once, whoever was asked for it', async () => {
    const held = Promise.withResolvers<void>();
    const call = { name: 'book', arguments: { day: 'Monday' } };
    preferred.chat(() => ({ toolCalls: [call], holdHead: held.promise }));
    fallback.chat(() => {
      held.resolve();
      return { toolCalls: [call] };
    });
    expect((await answerOf(await providersOf({}, passing), { tools })).tools).toEqual(['book {"day":"Monday"}']);
  });

  it.each([true, false])('says what it says before it calls a tool, with fallbacks: %s', async (fallbacks) => {
    preferred.chat(() => ({ text: 'Goodbye then', toolCalls: [{ name: 'end_call' }] }));
    const answer = await answerOf(await providersOf(fallbacks ? {} : { llm: { fallbacks: [] } }));
    expect(answer).toEqual({ text: 'Goodbye then', tools: ['end_call {}'] });
  });

  it('that breaks off before its calls are complete has called nothing, and the next one is asked', async () => {
    const streamed = events(calls(called(0, 't0', 'first', '{}')), calls(called(1, 't1', 'second', '{}')));
    preferred.chat(() => ({ raw: streamed.replace('data: [DONE]\n\n', '') }));
    fallback.chat(() => ({ toolCalls: [{ name: 'third' }] }));
    expect((await answerOf(await providersOf())).tools).toEqual(['third {}']);
  });

  const empty = [
    ['nothing', events(finish('stop'))],
    ['blanks', events(says(' \n'), finish('stop'))],
    ['reasoning alone', events(says('<think>hm</think>'), finish('stop'))],
    ['a refusal', events(chunk({ refusal: "I can't." }), finish('content_filter'))],
    ['half a call', events(calls(called(0, 't0', 'book', '{"slot":"9')), finish('length'))],
  ] as const;

  it.each(empty)('that answers %s is asked once more, and then the next one', async (_what, raw) => {
    preferred.chat(() => ({ raw }));
    fallback.chat(() => LONG);
    expect(await answerOf(await providersOf())).toEqual({ text: LONG, tools: [] });
    expect([preferred.requests('chat').length, fallback.requests('chat').length]).toEqual([2, 1]);
    expect(takeovers).toEqual(['llm']);
  });

  it('that answers nothing, and is the only one, is asked once more and fails', async () => {
    const measured: Measurement[] = [];
    const observer = observeModelRequests({ measure: (measurement) => measured.push(measurement) });
    preferred.chat(() => ({ raw: events(finish('stop')) }));
    const providers = await providersOf({ llm: { fallbacks: [] } }, { observer });
    expect(await failureOf(providers)).toMatchObject({
      kind: 'empty',
      message: expect.stringContaining('without words and calls (empty)'),
    });
    expect(measured.map(({ failure }) => failure)).toEqual(['empty', 'empty']);
  });

  it('may be silent where the caller has heard what there is to say', async () => {
    preferred.chat(() => ({ raw: events(finish('stop')) }));
    expect(await answerOf(await providersOf(), { mayBeEmpty: () => true })).toEqual({ text: '', tools: [] });
    expect([preferred.requests('chat').length, fallback.requests('chat').length]).toEqual([1, 0]);
  });

  it('whose calls are cut off behind words has said these, and its calls must not run', async () => {
    preferred.chat(() => ({ raw: events(says('One moment.'), calls(called(0, 't0', 'book', '{}')), finish('length')) }));
    const { text, calls: made } = await heardOf(ask(await providersOf()));
    expect([text, made]).toMatchObject(['One moment.', [{ call: { name: 'book', arguments: '{}' }, complete: false }]]);
  });

  it.each([
    ['deepseek-r1', 'Sorry, no.'],
    // Not known by its name: the first answer tells.
    ['another', 'A refund, no.Sorry, no.'],
  ])('that only ends its reasoning does not say it once it is known: %s', async (model, first) => {
    preferred.chat(() => ({ raw: events(says('A refund, no.'), says('</think>'), says('Sorry, no.'), finish('stop')) }));
    const answers = [];
    for (let n = 0; n < 2; n += 1) answers.push((await answerOf(await providersOf({ llm: { model } }))).text);
    expect(answers).toEqual([first, 'Sorry, no.']);
  });

  it('that takes less than its name lets expect is asked again, with the last turns', async () => {
    await preferred.limitContext(400);
    const turns = Array.from({ length: 20 }, (_, turn) => [
      aMessage('user', `Question ${turn}: ${LONG}`),
      aMessage('agent', `Answer ${turn}: ${LONG}`),
    ]);
    const asked = { instructions: 'You are a receptionist.', history: [...turns.flat(), aMessage('user', QUESTION)] };
    preferred.chat(() => LONG);
    const providers = await providersOf();
    expect((await answerOf(providers, asked)).text).toBe(LONG);
    expect((await answerOf(providers, asked)).text).toBe(LONG);
    // Without those for a summary.
    const requests = preferred.requests('chat').filter(({ lastUser }) => lastUser === QUESTION);
    expect(requests.map(({ tokens }) => tokens > 400)).toEqual([true, true, false, false]);
    expect(requests[2]?.system).toContain('oldest part of the conversation is left out');
    expect([fallback.requests('chat'), takeovers]).toEqual([[], []]);
  });

  it.each([
    ['Anthropic', 400, 'prompt is too long: 208310 tokens > 200000 maximum'],
    ['Google', 400, 'The input token count (134123) exceeds the maximum number of tokens allowed (131072).'],
    ['vLLM', 400, "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens."],
    ['llama.cpp', 400, 'the request exceeds the available context size, try increasing it'],
    ['Mistral', 422, 'Prompt contains 40000 tokens, too large for model with 32768 maximum context length'],
  ])('whose refusal is %s’s word for too long is asked again', async (_provider, status, message) => {
    const history = [aMessage('user', QUESTION), aMessage('agent', LONG.repeat(100)), aMessage('user', 'And on Sundays?')];
    preferred.chat(({ messages }) => (messages.length > 2 ? { status, raw: JSON.stringify({ error: { message } }) } : LONG));
    expect((await answerOf(await providersOf(), { history })).text).toBe(LONG);
    expect(fallback.requests('chat')).toEqual([]);
  });

  it('without fallbacks is asked again where the first token is late', async () => {
    const held = Promise.withResolvers<void>();
    let asks = 0;
    preferred.chat(() => ((asks += 1) === 1 ? { text: 'Too late.', holdHead: held.promise } : LONG));
    expect(await answerOf(await providersOf({ llm: { fallbacks: [] } }, passing))).toEqual({ text: LONG, tools: [] });
    expect(takeovers).toEqual([]);
    held.resolve();
  });

  it('fails as the preferred one does where all fail', async () => {
    preferred.chat(() => ({ status: 401 }));
    fallback.chat(() => ({ status: 500 }));
    expect(await failureOf(await providersOf())).toMatchObject({ part: 'llm', kind: 'refused', status: 401 });
  });
});

describe('text to speech', () => {
  it.each(failing)('that %s is replaced, and stays so', async (_how, script) => {
    preferred.speech(() => script);
    const providers = await providersOf();
    await spokenMs(providers, ...SENTENCES);
    await spokenMs(providers, ...SENTENCES);
    expect(inputs(fallback)).toEqual([...SENTENCES, ...SENTENCES]);
    expect(inputs(preferred)).toEqual([SENTENCES[0]]);
    expect(providers.tts.model).toBe('other-voice');
    expect(new Set(takeovers)).toEqual(new Set(['tts']));
  });

  it('that is late is replaced', async () => {
    const held = Promise.withResolvers<void>();
    preferred.speech(() => ({ holdHead: held.promise }));
    const providers = await providersOf({}, passing);
    await spokenMs(providers, 'We are open from nine to six.');
    expect(inputs(fallback)).toEqual(['We are open from nine to six.']);
    held.resolve();
  });

  it('that breaks off in a sentence is continued with what it has not said, and each word is heard once', async () => {
    preferred.speech(({ input }) => (input === SENTENCES[1] ? { breakAfterMs: 600 } : {}));
    const providers = await providersOf();
    const ms = await spokenMs(providers, ...SENTENCES);
    // 600 ms are 15 characters: "Shall I book an".
    const rest = 'appointment for you?';
    expect(inputs(fallback)).toEqual([rest]);
    expect(ms).toBe((SENTENCES[0].length + 15 + rest.length) * 40);
  });

  it('that goes silent in a sentence is continued, too', async () => {
    const held = Promise.withResolvers<void>();
    preferred.speech(() => ({ holdRest: held.promise }));
    const providers = await providersOf({}, passing);
    await spokenMs(providers, 'We are open from nine to six.');
    // 100 ms are the first word.
    expect(inputs(fallback)).toEqual(['are open from nine to six.']);
    held.resolve();
  });

  it('is asked again where all fail for a passing reason', async () => {
    let asks = 0;
    preferred.speech(() => ((asks += 1) === 1 ? { status: 503 } : {}));
    fallback.speech(() => ({ status: 503 }));
    const providers = await providersOf({}, passing);
    expect(await spokenMs(providers, 'Hello to you.')).toBe(13 * 40);
    expect([inputs(preferred).length, inputs(fallback).length]).toEqual([2, 1]);
  });
});

describe('speech to text', () => {
  const speech = (): Int16Array => tone({ frequency: 700, seconds: 1, sampleRate: 16_000 });
  const textOf = ({ stt }: Providers): Promise<string> => recognize(stt, speech());

  it.each(failing)('that %s is replaced, and stays so', async (_how, script) => {
    preferred.heard(() => script as TranscriptionScript);
    fallback.hear('hello there', 'and again');
    const providers = await providersOf();
    expect([await textOf(providers), await textOf(providers)]).toEqual(['hello there', 'and again']);
    // Whatever was said is heard as a whole.
    expect(fallback.requests('transcriptions').map(({ seconds }) => Math.round(seconds))).toEqual([1, 1]);
    expect(preferred.requests('transcriptions')).toHaveLength(1);
    expect([takeovers, providers.stt.model]).toEqual([['stt'], 'other-ears']);
  });

  it('that is late is replaced', async () => {
    const held = Promise.withResolvers<void>();
    preferred.heard(() => ({ text: 'too late', holdHead: held.promise }));
    fallback.hear('hello there');
    expect(await textOf(await providersOf({}, passing))).toBe('hello there');
    held.resolve();
  });

  it('that is as slow as the other is given its time from then on', async () => {
    const answers: (() => void)[] = [];
    for (const server of [preferred, fallback])
      server.heard(() => ({ text: 'hello there', holdHead: new Promise<void>((answer) => answers.push(answer)) }));
    const finals: string[] = [];
    const recognition = (await providersOf()).stt.listen((event) => {
      if (event.type === 'final') finals.push(event.text);
    });
    const requests = () => [preferred, fallback].map((server) => server.requests('transcriptions').length);
    for (let turn = 1; turn <= 3; turn += 1) {
      recognition.speaks();
      recognition.push(speech());
      recognition.pauses();
      if (turn === 1) {
        await expect.poll(requests).toEqual([1, 0]);
        clock.tick(LATE_MS);
      }
      await expect.poll(requests).toEqual([1, turn]);
      // It takes longer than the one before it was given.
      await clock.advance(1_200);
      for (const answer of answers) answer();
      await expect.poll(() => finals.splice(0)).toEqual(['hello there']);
    }
    recognition.close();
    expect(requests()).toEqual([1, 3]);
  });

  const streaming = () => ({
    provider: 'deepgram' as const,
    baseURL: preferred.url,
    model: 'nova-3',
    apiKeySecretRef: { name: 'keys', key: 'k' },
  });
  const turns = () => ({ provider: 'openai_compatible' as const, baseURL: fallback.url, model: 'turns' });

  it('that streams, and is late with the final, is replaced by one that takes whole turns', async () => {
    preferred.streamed.hear({ text: 'too late', finalDelayMs: 60_000 });
    fallback.hear('hello there');
    const providers = await providersOf({ speechToText: { ...streaming(), fallbacks: [turns()] } }, passing);
    expect([await textOf(providers), takeovers]).toEqual(['hello there', ['stt']]);
    expect(fallback.requests('transcriptions').map(({ seconds }) => Math.round(seconds))).toEqual([1]);
  });

  it('that takes whole turns is replaced by one that streams', async () => {
    preferred.streamed.hear('hello there');
    fallback.heard(() => ({ status: 500 }));
    const providers = await providersOf({ speechToText: { ...turns(), fallbacks: [streaming()] } });
    expect([await textOf(providers), takeovers]).toEqual(['hello there', ['stt']]);
  });
});

describe('at the start of a call', () => {
  const apiKeySecretRef = { name: 'gone', key: 'k' };
  const read = () => Promise.reject(new ProviderKeyError('missing', 'Secret acme/gone does not exist: create it'));

  it('a provider whose key is missing is left out', async () => {
    fallback.chat(() => LONG);
    const providers = await providersOf({ llm: { apiKeySecretRef } }, { keys: { read } });
    expect((await answerOf(providers)).text).toBe(LONG);
    expect(preferred.requests('chat')).toEqual([]);
  });

  it('a provider that is not ready a second after the other is left out, and the log says which', async () => {
    const lines: string[] = [];
    const logger = pino({ level: 'warn' }, { write: (line) => void lines.push(line) });
    const creating = providersOf({ llm: { apiKeySecretRef } }, { keys: { read: () => new Promise(() => undefined) }, logger });
    await settle();
    clock.tick(999);
    await settle();
    expect(lines).toEqual([]);
    clock.tick(1);
    await creating;
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ part: 'llm', fallback: 0, msg: expect.stringContaining('not ready') }]);
  });

  it('a provider that is late because all are has its place', async () => {
    const keys = { preferred: Promise.withResolvers<string>(), other: Promise.withResolvers<string>() };
    const withKey = (name: keyof typeof keys) => ({ apiKeySecretRef: { name, key: 'k' } });
    const creating = providersOf(
      {
        llm: {
          ...withKey('preferred'),
          fallbacks: [{ provider: 'openai_compatible', baseURL: fallback.url, model: 'm', ...withKey('other') }],
        },
      },
      { keys: { read: async (_org, { name }) => keys[name as keyof typeof keys].promise } },
    );
    await settle();
    clock.tick(5_000);
    keys.other.resolve('a-key');
    await settle();
    clock.tick(900);
    keys.preferred.resolve('a-key');
    preferred.chat(() => LONG);
    expect((await answerOf(await creating)).text).toBe(LONG);
    expect(fallback.requests('chat')).toEqual([]);
  });

  it('none that can be used is the failure of the preferred one', async () => {
    const all = { apiKeySecretRef, fallbacks: [{ provider: 'groq' as const, model: 'm', apiKeySecretRef }] };
    await expect(providersOf({ llm: all }, { keys: { read } })).rejects.toThrow(/openai_compatible \(language model\) is missing/);
  });
});
