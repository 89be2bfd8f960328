/** When words of a stream interrupt the agent, and when they don't. */
import { dispose } from '@livekit/rtc-node';
import { afterAll, expect, it } from 'vitest';

import { eventually } from '../../support/eventually.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import type { StagedCall } from './stage.ts';
import { openStreamingStage } from './streaming-stage.ts';

const STORY = 'Once upon a time there was a telephone.';
afterAll(dispose);
const stage = suiteFixture(openStreamingStage);

const calling = (spec: Readonly<Record<string, unknown>>): Promise<StagedCall> =>
  stage.call({ spec: { ...spec, speechToText: stage.streamingSpeechToText } });

it.each([
  { when: 'one after the other', script: { text: 'please stop that now and never begin again' } },
  { when: 'before the speech is long enough', script: { text: 'please stop that', msPerWord: 100 } },
])('an interruption of so many words happens at the last of them, not at the end of the turn: $when', async ({ script }) => {
  const call = await calling({ welcomeMessage: STORY, interruptions: { minWords: 3 } });
  call.provider.speech(({ input }) => (input === STORY ? { msPerCharacter: 20_000 / STORY.length } : {}));
  call.provider.chat(() => 'I listen.');
  call.provider.streamed.hear(script);
  await call.join();
  await call.becomes({ status: 'ongoing' });
  await eventually(() => expect(call.caller.heardFor(STORY)).toBeGreaterThanOrEqual(1_500));
  const from = performance.now();
  const said = call.caller.speak(5_000);
  await call.caller.hears('I listen.', { since: from });
  await said;
  // The third word is heard after half a second.
  expect(call.caller.lastHeard(STORY)! - from).toBeLessThan(3_500);
  expect((await call.messages())[0]).toMatchObject({ role: 'agent', interrupted: true });
  await call.caller.leave();
  await call.becomes({ finishReason: 'user_ended_call' });
});

it('a back-channel interrupts nothing, however long: the agent goes on where it was', async () => {
  const call = await calling({ welcomeMessage: STORY });
  call.provider.speech(({ input }) => (input === STORY ? { msPerCharacter: 8_000 / STORY.length } : {}));
  call.provider.streamed.hear('uh-huh, okay, right');
  await call.join();
  await call.becomes({ status: 'ongoing' });
  await eventually(() => expect(call.caller.heardFor(STORY)).toBeGreaterThanOrEqual(1_500));
  await call.caller.speak(1_500);
  await eventually(async () => expect(await call.messages()).toMatchObject([{ role: 'agent', content: STORY, interrupted: false }]));
  expect(call.caller.heardFor(STORY)).toBeGreaterThan(6_500);
  expect(call.provider.requests('chat')).toEqual([]);
  await call.caller.leave();
  await call.becomes({ finishReason: 'user_ended_call' });
});
