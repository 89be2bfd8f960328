/** A call goes on whose providers fail and have fallbacks. Each way of failing is in `provider-fallbacks.test.ts`. */
import { dispose } from '@livekit/rtc-node';
import { afterAll, expect, it } from 'vitest';

import { eventually } from '../../support/eventually.ts';
import { startProviderServer } from '../../support/provider-server.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { openStage } from './stage.ts';

const FIRST = 'We are open from nine to six.';
const SECOND = 'Shall I book an appointment for you?';
const QUESTION = 'when are you open';
const ANSWER = `${FIRST} ${SECOND}`;

afterAll(dispose);
const stage = suiteFixture(openStage);
const fallback = suiteFixture(startProviderServer);

it('a call whose model breaks off, whose voice fails in the second sentence and whose speech to text fails loses no word', async () => {
  fallback.chat(() => ANSWER);
  const fallbacks = [{ provider: 'openai_compatible', model: 'other', baseURL: fallback.url }];
  const call = await stage.call({ spec: { llm: { fallbacks }, speechToText: { fallbacks }, textToSpeech: { fallbacks } } });
  call.provider.chat(() => ({ text: ANSWER, breakAfter: 10 }));
  call.provider.speech(({ input }) => (input === FIRST ? {} : { status: 500 }));
  call.provider.heard(() => ({ status: 500 }));
  await call.join();
  await call.becomes({ status: 'ongoing' });
  await call.says(QUESTION, 1_000, [fallback]);
  await call.caller.hears(FIRST);
  await call.caller.hears(SECOND);
  await eventually(async () => {
    const said = (await call.messages()).map(({ role, content }) => `${role}: ${content}`);
    expect(said).toEqual([`user: ${QUESTION}`, `agent: ${ANSWER}`]);
  });
  const metrics = await (await fetch(`http://127.0.0.1:${stage.role.port}/metrics`)).text();
  for (const part of ['llm', 'stt', 'tts']) {
    expect(call.lines()).toContainEqual(expect.objectContaining({ part, provider: 'openai_compatible', by: 'openai_compatible other' }));
    expect(metrics).toMatch(new RegExp(`^parley_voice_provider_takeovers_total\\{part="${part}"\\} [1-9]`, 'm'));
  }
  await call.caller.leave();
  await call.becomes({ finishReason: 'user_ended_call' });
});
