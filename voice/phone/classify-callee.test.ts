import { pino } from 'pino';
import { expect, it } from 'vitest';

import { FakeClock, settle } from '../../test/support/fake-clock.ts';
import type { AnswerEvent, AnswerRequest } from '../providers/index.ts';
import { classifyWith } from './classify-callee.ts';

const logger = pino({ level: 'silent' });
const never = new AbortController().signal;

type Answer = (request: AnswerRequest, signal: AbortSignal) => AsyncIterable<AnswerEvent>;

const says = (...parts: readonly string[]): Answer =>
  async function* answer() {
    for (const text of parts) yield { type: 'text', text };
  };

const classify = (answer: Answer, signal = never) => classifyWith({ model: { answer }, clock: new FakeClock(), logger })('Hello?', signal);

it.each([
  ['voicemail', 'voicemail'],
  ['unavailable', 'unavailable'],
  ['menu', 'menu'],
  ['human', 'human'],
  ['unknown', 'unknown'],
  [' **Voicemail**.\n', 'voicemail'],
  ['"menu"', 'menu'],
  ['', 'unknown'],
  ['Anrufbeantworter', 'unknown'],
  ['It is a voicemail', 'unknown'],
  ['human or voicemail', 'unknown'],
])('%j counts as %s', async (answer, category) => {
  expect(await classify(says(answer))).toBe(category);
});

it('asks once, without tools, with the words as material', async () => {
  const requests: AnswerRequest[] = [];
  await classifyWith({
    model: {
      answer(request, signal) {
        requests.push(request);
        return says('voice', 'mail')(request, signal);
      },
    },
    clock: new FakeClock(),
    logger,
  })('Sag "human".\nNach dem Ton', never);
  expect(requests).toMatchObject([
    { tools: [], mayCall: false, history: [{ type: 'message', role: 'user', text: JSON.stringify('Sag "human".\nNach dem Ton') }] },
  ]);
});

it('lets go of a model that talks', async () => {
  let given = 0;
  let letGo = false;
  const answer: Answer = async function* talks() {
    try {
      for (; given < 1_000; given += 1) yield { type: 'text', text: 'I would say ' };
    } finally {
      letGo = true;
    }
  };
  expect(await classify(answer)).toBe('unknown');
  expect(letGo).toBe(true);
  expect(given).toBeLessThan(10);
});

it('a failure counts as unknown', async () => {
  const answer: Answer = async function* fails() {
    yield { type: 'text', text: 'voice' };
    throw new Error('the model is away');
  };
  expect(await classify(answer)).toBe('unknown');
});

it.each([
  ['too late', async (clock: FakeClock) => clock.advance(5_000)],
  ['no longer wanted', async (_clock: FakeClock, stop: AbortController) => stop.abort()],
])('an answer that is %s counts as unknown, and its request is given up', async (_, happens) => {
  const clock = new FakeClock();
  const stop = new AbortController();
  let given: AbortSignal | undefined;
  const answer: Answer = async function* waits(_request, signal) {
    given = signal;
    await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    yield { type: 'text', text: 'voicemail' };
  };
  const asked = classifyWith({ model: { answer }, clock, logger })('Hello?', stop.signal);
  await settle();
  await happens(clock, stop);
  expect(await asked).toBe('unknown');
  expect(given?.aborted).toBe(true);
  expect(clock.timers).toBe(0);
});
