/** Calls whose speech to text streams. */
import { dispose } from '@livekit/rtc-node';
import { afterAll, expect, it } from 'vitest';

import { followTranscript, type SpokenLine } from '../../../voice/calls/live-transcript.ts';
import { eventually } from '../../support/eventually.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import type { StagedCall } from './stage.ts';
import { openStreamingStage } from './streaming-stage.ts';

const STORY = 'Once upon a time there was a telephone.';
afterAll(dispose);
const stage = suiteFixture(openStreamingStage);

async function calling(spec: Readonly<Record<string, unknown>> = {}): Promise<StagedCall & { readonly spoken: SpokenLine[] }> {
  const call = await stage.call({ spec: { ...spec, speechToText: stage.streamingSpeechToText } });
  const spoken: SpokenLine[] = [];
  followTranscript(call.caller.room, { userIdentity: `user-${call.id}`, onLine: (line) => spoken.push(line) });
  return Object.assign(call, { spoken });
}

it('a turn is heard while it is said, and answered once it is over', async () => {
  const call = await calling();
  call.provider.streamed.hear('I would like to order a bicycle');
  await call.join();
  await call.becomes({ status: 'ongoing' });
  await call.caller.speak(1_500);
  await call.caller.hears('I heard: I would like to order a bicycle');
  expect(call.provider.requests('transcriptions')).toEqual([]);
  expect(call.spoken.filter(({ role, final }) => role === 'user' && !final).map(({ text }) => text)).toContain('I would like');
  expect(call.spoken.findLast(({ role }) => role === 'user')).toMatchObject({ text: 'I would like to order a bicycle', final: true });
  expect(call.provider.streamed.connections).toHaveLength(1);
  await call.caller.leave();
  await call.becomes({ finishReason: 'user_ended_call' });
});

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

it('a lost connection costs no word', async () => {
  const call = await calling();
  call.provider.streamed.hear('one two three four five six seven eight');
  await call.join();
  await call.becomes({ status: 'ongoing' });
  const said = call.caller.speak(2_500);
  await eventually(() => expect(call.provider.streamed.connections[0]?.audioBytes).toBeGreaterThan(64_000));
  call.provider.breakConnections();
  await said;
  await call.caller.hears('I heard: one two three four five six seven eight');
  expect(call.provider.streamed.connections.length).toBeGreaterThan(1);
  await call.caller.leave();
  await call.becomes({ finishReason: 'user_ended_call' });
});
