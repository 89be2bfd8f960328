/** A call hears and answers through a realtime model on a real connection, whose server OpenAI's own client accepts, too. */
import { connect } from 'node:net';

import OpenAI from 'openai';
import { OpenAIRealtimeWS } from 'openai/realtime/ws';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';

import { observeModelRequests, type ModelAnswer, type ModelRequest } from '../../../platform/telemetry/gen-ai/model-requests.ts';
import { createProviders, type CreateProvidersOptions } from '../../../voice/providers/index.ts';
import type { RecognitionEvent } from '../../../voice/providers/stt/recognition.ts';
import { aQuestion, aTool, heardOf } from '../../support/answers.ts';
import type { RealtimeAnswer, RealtimeQuestion } from '../../support/fake-realtime.ts';
import { openEgress } from '../../support/open-egress.ts';
import { startProviderServer, type ProviderServer } from '../../support/provider-server.ts';
import { tone } from '../../support/tones.ts';
import { startRealtimeServer, type RealtimeServer } from './realtime-server.ts';
import { KEY } from './speech-apis.ts';

const never = new AbortController().signal;
const SECOND = tone({ frequency: 440, seconds: 1, sampleRate: 16_000 });

let server: RealtimeServer;
let pipeline: ProviderServer;
let hears: string[];
let answer: (question: RealtimeQuestion) => RealtimeAnswer;
const egress = openEgress({ allowCidrs: ['127.0.0.0/8'] });

beforeEach(async () => {
  hears = [];
  answer = ({ lastUser }) => ({ text: `You said ${lastUser}.` });
  server = await startRealtimeServer({ hears, answer: (question) => answer(question) });
  pipeline = await startProviderServer();
  pipeline.chat(() => 'This is the language model.');
});
afterEach(async () => {
  await Promise.all([server.stop(), pipeline.close()]);
});

it("answers OpenAI's client, which sends sound, gets words and a call of a tool, and calls an answer off", async () => {
  hears.push('what does the hat cost', 'tell me more');
  answer = ({ lastUser, toolNames }) =>
    lastUser.includes('cost')
      ? { text: 'One moment.', calls: [{ name: toolNames[0]!, args: '{"item":"hat"}' }] }
      : { text: 'Word '.repeat(500) };
  const client = new OpenAI({ apiKey: KEY, baseURL: `${server.url}/v1` });
  // It always asks for TLS, which the server of the test hasn't.
  const createConnection = () => connect(Number(new URL(server.url).port), '127.0.0.1');
  const realtime = new OpenAIRealtimeWS({ model: 'gpt-realtime', options: { createConnection } }, client);
  const types: string[] = [];
  const once = (type: 'session.updated' | 'response.done' | 'conversation.item.input_audio_transcription.completed') =>
    new Promise<unknown>((resolve, reject) => {
      realtime.once(type, resolve);
      realtime.once('error', reject);
    });
  realtime.on('event', ({ type }) => void types.push(type));
  await new Promise((resolve) => realtime.socket.once('open', resolve));
  const input = { format: { type: 'audio/pcm', rate: 24_000 }, transcription: { model: 'whisper-1' }, turn_detection: null } as const;
  const { parameters, ...tool } = aTool('find_price');
  const updated = once('session.updated');
  realtime.send({
    type: 'session.update',
    session: { type: 'realtime', output_modalities: ['text'], audio: { input }, tools: [{ type: 'function', ...tool, parameters }] },
  });
  await updated;
  const speak = async () => {
    const transcribed = once('conversation.item.input_audio_transcription.completed');
    realtime.send({ type: 'input_audio_buffer.append', audio: Buffer.from(SECOND.buffer).toString('base64') });
    realtime.send({ type: 'input_audio_buffer.commit' });
    return transcribed;
  };
  expect(await speak()).toMatchObject({ transcript: 'what does the hat cost' });
  const done = once('response.done');
  realtime.send({ type: 'response.create' });
  expect(await done).toMatchObject({
    response: {
      status: 'completed',
      output: [{ type: 'message' }, { type: 'function_call', name: 'find_price', arguments: '{"item":"hat"}' }],
    },
  });
  expect(types).toContain('response.output_text.delta');
  await speak();
  const cancelled = once('response.done');
  realtime.send({ type: 'response.create' });
  realtime.send({ type: 'response.cancel' });
  expect(await cancelled).toMatchObject({ response: { status: 'cancelled' } });
  realtime.close();
});

async function aCall() {
  const requests: { readonly request: ModelRequest; readonly answer: ModelAnswer }[] = [];
  const own = { provider: 'openai_compatible', apiKeySecretRef: { name: 'keys', key: 'key' } };
  const [realtimeAt, others] = [
    { ...own, baseURL: `${server.url}/v1` },
    { ...own, baseURL: pipeline.url },
  ];
  const providers = await createProviders({
    org: 'acme',
    agent: {
      language: 'en-US',
      llm: { model: 'm', temperature: '0', ...others },
      realtime: { model: 'gpt-realtime', ...realtimeAt },
      speechToText: others,
      textToSpeech: { voice: {}, temperature: '0.5', ...others },
    } as unknown as CreateProvidersOptions['agent'],
    keys: { read: async () => KEY },
    egress,
    defaults: [],
    logger: pino({ level: 'silent' }),
    env: {},
    observer: observeModelRequests({ onEnd: (request, made) => void requests.push({ request, answer: made }) }),
  });
  const events: RecognitionEvent[] = [];
  const recognition = providers.stt.listen((event) => void events.push(event));
  /** Says something, and returns the words that were understood. */
  const says = async (): Promise<string> => {
    const before = events.length;
    recognition.speaks();
    recognition.push(SECOND);
    recognition.pauses();
    await expect.poll(() => events.slice(before).some(({ type }) => type === 'settled'), { timeout: 15_000 }).toBe(true);
    return events
      .slice(before)
      .flatMap((event) => (event.type === 'final' ? [event.text] : []))
      .join(' ');
  };
  return { providers, recognition, requests, says };
}

it('hears and answers on one connection, and counts its tokens', async () => {
  hears.push('when are you open');
  const { providers, recognition, requests, says } = await aCall();
  const asked = await says();
  expect(asked).toBe('when are you open');
  expect(await heardOf(providers.conversation.answer(aQuestion(asked, { instructions: 'Be brief.' }), never))).toEqual({
    text: 'You said when are you open.',
    calls: [],
  });
  expect(server.opened).toMatchObject([{ key: `authorization: Bearer ${KEY}` }]);
  expect(server.opened[0]!.session!.questions).toMatchObject([
    { instructions: 'Be brief.', items: ['user: when are you open'], sounds: 1 },
  ]);
  expect(requests.map(({ request, answer: made }) => [request.model, made.usage])).toContainEqual([
    'gpt-realtime',
    { inputTokens: 20, outputTokens: 10, cachedTokens: 5 },
  ]);
  expect(pipeline.requests()).toEqual([]);
  recognition.close();
  await providers.close();
});

it('goes on without it where its connection is refused, or lost', async () => {
  hears.push('hello');
  pipeline.hear('are you there', 'are you there');
  for (const faulty of [false, true]) {
    server.faults.status = faulty ? 401 : undefined;
    const { providers, recognition, says } = await aCall();
    if (!faulty) {
      expect(await says()).toBe('hello');
      server.opened[0]!.client.drop();
    }
    expect(await says()).toBe('are you there');
    expect((await heardOf(providers.conversation.answer(aQuestion('are you there'), never))).text).toBe('This is the language model.');
    recognition.close();
    await providers.close();
  }
});
