import { expect, it } from 'vitest';

import { FakeClock } from '../../../test/support/fake-clock.ts';
import type { SpeechSource } from './speech-source.ts';
import { withWelcomeSounds } from './welcome-sounds.ts';

const welcome = 'Good morning.\nHow can I help?';
const clock = new FakeClock();
let agents = 0;

/** Builds the source of a call. @param endpoint the fields that differ from other calls' */
function source(endpoint: Readonly<Record<string, string>> = {}, message: string | undefined = welcome) {
  const asked: string[] = [];
  const inner: SpeechSource = {
    model: 'm',
    atOnce: 2,
    connect: () => undefined,
    close: () => undefined,
    async *soundOf({ text }) {
      asked.push(text);
      yield Buffer.from(`${text}:`);
      yield Buffer.from('end');
    },
  };
  const settings = {
    endpoint: { part: 'tts', provider: 'p', protocol: 'own', guarded: false, apiKey: 'k', ...endpoint },
    language: 'en',
    temperature: 0,
  } as const;
  return { asked, sounds: withWelcomeSounds({ source: inner, welcome: message, settings, clock }) };
}

async function heard({ sounds }: ReturnType<typeof source>, text: string, before = ''): Promise<string> {
  const { signal } = new AbortController();
  const chunks: Uint8Array[] = [];
  for await (const chunk of sounds.soundOf({ text, before, answer: { complete: signal } }, signal)) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** Returns an agent that no other test has. */
const fresh = () => ({ voice: `v${(agents += 1)}` });

it('synthesises the sentences of a welcome message once, and hears the same', async () => {
  const agent = fresh();
  const calls = [source(agent), source(agent)] as const;
  for (const call of calls) {
    expect(await heard(call, 'Good morning.')).toBe('Good morning.:end');
    expect(await heard(call, 'How can I help?', 'Good morning. ')).toBe('How can I help?:end');
  }
  expect(calls.map(({ asked }) => asked)).toEqual([['Good morning.', 'How can I help?'], []]);
});

it.each([
  ['another voice', { voice: 'other' }],
  ['another model', { model: 'other' }],
  ['another key', { apiKey: 'other' }],
  ['another address', { baseURL: 'https://other.example' }],
])('asks again with %s', async (_what, other) => {
  const agent = fresh();
  await heard(source(agent), 'Good morning.');
  const call = source({ ...agent, ...other });
  await heard(call, 'Good morning.');
  expect(call.asked).toEqual(['Good morning.']);
});

it('keeps nothing else that is said, and no message with placeholders', async () => {
  const agent = fresh();
  for (const [text, message] of [
    ['We open at nine.', welcome],
    ['Hello Ann.', 'Hello {{name}}.'],
    ['Hello.', undefined],
  ] as const) {
    await heard(source(agent, message), text);
    const call = source(agent, message);
    await heard(call, text);
    expect(call.asked).toEqual([text]);
  }
});

it('keeps no part of a sentence that was interrupted', async () => {
  const agent = fresh();
  const { signal } = new AbortController();
  for await (const _chunk of source(agent).sounds.soundOf({ text: 'Good morning.', before: '', answer: { complete: signal } }, signal))
    break;
  expect(await heard(source(agent), 'Good morning.')).toBe('Good morning.:end');
});

it('asks again after ten minutes: a voice may have changed', async () => {
  const agent = fresh();
  await heard(source(agent), 'Good morning.');
  await clock.advance(600_001);
  const call = source(agent);
  await heard(call, 'Good morning.');
  expect(call.asked).toEqual(['Good morning.']);
});
