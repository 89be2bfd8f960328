/** Calls whose providers fail and have fallbacks: they go on, and the caller hears every word once. */
import { setTimeout as delay } from 'node:timers/promises';

import { dispose } from '@livekit/rtc-node';
import { afterAll, expect, it } from 'vitest';

import { eventually } from '../../support/eventually.ts';
import { startProviderServer, type ProviderServer } from '../../support/provider-server.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { openStage, type StagedCall } from './stage.ts';

const FIRST = 'We are open from nine to six.';
const SECOND = 'Shall I book an appointment for you?';
const ANSWER = `${FIRST} ${SECOND}`;
/** Short, so that a test hears it quickly. */
const briefly = { msPerCharacter: 20 };

afterAll(dispose);
const stage = suiteFixture(openStage);
const fallback = suiteFixture(startProviderServer);

/** One turn of the user, of a call whose parts have fallbacks. */
async function askedBy(breaks: (provider: ProviderServer) => void): Promise<StagedCall> {
  fallback.reset();
  fallback.heard(() => 'when are you open');
  fallback.speech(() => briefly);
  fallback.chat(() => ANSWER);
  const fallbacks = [{ provider: 'openai_compatible', model: 'other', baseURL: fallback.url }];
  const call = await stage.call({ spec: { llm: { fallbacks }, speechToText: { fallbacks }, textToSpeech: { fallbacks } } });
  call.provider.heard(() => 'when are you open');
  call.provider.speech(() => briefly);
  call.provider.chat(() => ANSWER);
  breaks(call.provider);
  await call.join();
  await call.becomes({ status: 'ongoing' });
  await call.caller.speak(1_000);
  return call;
}

it.each([
  ['a language model that breaks off', 'llm', (provider: ProviderServer) => provider.chat(() => ({ text: ANSWER, breakAfter: 10 }))],
  ['a language model that refuses the key', 'llm', (provider: ProviderServer) => provider.chat(() => ({ status: 401 }))],
  [
    'text to speech that fails in the second sentence',
    'tts',
    (provider: ProviderServer) => provider.speech(({ input }) => (input === FIRST ? briefly : { status: 500 })),
  ],
  ['speech to text that fails', 'stt', (provider: ProviderServer) => provider.heard(() => ({ status: 500 }))],
])('%s costs no word and not the call', async (_what, part, breaks) => {
  const call = await askedBy(breaks);
  await call.caller.hears(FIRST);
  await call.caller.hears(SECOND);
  await eventually(async () => {
    const said = (await call.messages()).map(({ role, content }) => `${role}: ${content}`);
    expect(said).toEqual(['user: when are you open', `agent: ${ANSWER}`]);
  });
  const spoken = [call.provider, fallback].flatMap((server) => server.requests('speech')).map(({ input }) => input);
  expect(spoken.filter((input) => input === FIRST)).toHaveLength(1);
  expect(call.lines()).toContainEqual(expect.objectContaining({ part, provider: 'openai_compatible', by: 'openai_compatible other' }));
  const metrics = await (await fetch(`http://127.0.0.1:${stage.role.port}/metrics`)).text();
  expect(metrics).toMatch(new RegExp(`^parley_voice_provider_takeovers_total\\{part="${part}"\\} [1-9]`, 'm'));
  await call.caller.leave();
  await call.becomes({ finishReason: 'user_ended_call' });
});

it('a model and a voice that take long, each within its limit, cost no word', async () => {
  const call = await stage.joined();
  call.provider.chat(() => ({ text: [`${FIRST} `, SECOND], holdRest: delay(8_500) }));
  call.provider.speech(async () => {
    await delay(5_000);
    return briefly;
  });
  await call.becomes({ status: 'ongoing' });
  await call.caller.speak(1_000);
  await call.caller.hears(SECOND, { since: await call.caller.hears(FIRST) });
  await eventually(async () => expect((await call.messages()).map(({ content }) => content)).toEqual(['hello', ANSWER]));
});
