/** Calls whose providers fail and have fallbacks: they go on, and no word is lost. */
import { dispose } from '@livekit/rtc-node';
import { afterAll, expect, it } from 'vitest';

import { eventually } from '../../support/eventually.ts';
import { startProviderServer, type ProviderServer } from '../../support/provider-server.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { openStage, type StagedCall } from './stage.ts';

const FIRST = 'We are open from nine to six.';
const SECOND = 'Shall I book an appointment for you?';
const QUESTION = 'when are you open';
const ANSWER = `${FIRST} ${SECOND}`;
/** Short, so that a test hears it quickly. */
const briefly = { msPerCharacter: 20 };

afterAll(dispose);
const stage = suiteFixture(openStage);
const fallback = suiteFixture(startProviderServer);

/** One turn of the user, of a call whose parts have fallbacks. */
async function asked(part: string, breaks: (provider: ProviderServer) => void): Promise<StagedCall> {
  fallback.reset();
  fallback.speech(() => briefly);
  fallback.chat(() => ANSWER);
  const fallbacks = [{ provider: 'openai_compatible', model: 'other', baseURL: fallback.url }];
  const call = await stage.call({ spec: { llm: { fallbacks }, speechToText: { fallbacks }, textToSpeech: { fallbacks } } });
  call.provider.speech(() => briefly);
  call.provider.chat(() => ANSWER);
  breaks(call.provider);
  await call.join();
  await call.becomes({ status: 'ongoing' });
  await call.says(QUESTION, 1_000, part === 'stt' ? [fallback] : [call.provider, fallback]);
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
  const call = await asked(part, breaks);
  await call.caller.hears(FIRST);
  await call.caller.hears(SECOND);
  await eventually(async () => {
    const said = (await call.messages()).map(({ role, content }) => `${role}: ${content}`);
    expect(said).toEqual([`user: ${QUESTION}`, `agent: ${ANSWER}`]);
  });
  expect(call.lines()).toContainEqual(expect.objectContaining({ part, provider: 'openai_compatible', by: 'openai_compatible other' }));
  const metrics = await (await fetch(`http://127.0.0.1:${stage.role.port}/metrics`)).text();
  expect(metrics).toMatch(new RegExp(`^parley_voice_provider_takeovers_total\\{part="${part}"\\} [1-9]`, 'm'));
  await call.caller.leave();
  await call.becomes({ finishReason: 'user_ended_call' });
});
