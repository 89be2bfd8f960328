/**
 * Interrupts in real sound: the model knows what the caller has heard. What is heard, and when, is in test/simulated-calls; here it counts
 * that the agent's track plays what its conversation says it has played.
 */
import { dispose } from '@livekit/rtc-node';
import { afterAll, expect, it } from 'vitest';

import { eventually } from '../../support/eventually.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { openStage } from './stage.ts';

const MS_PER_CHARACTER = 70;
/** Playing and hearing may differ so much: a client makes up for sound that is late, and plays what the media server has. */
const TOLERANCE_MS = 1_500;

const sentences = ['Wonderful', 'Beautiful', 'Colourful', 'Delightful'].map(
  (kind) => `${kind} umbrellas protect ninety travellers everywhere.`,
);
const answer = sentences.join(' ');

afterAll(dispose);
const stage = suiteFixture(openStage);

/** Returns the whole words of the answer that are heard in this time. */
function heardIn(ms: number): string {
  const spoken = `${answer} `.slice(0, Math.max(0, ms) / MS_PER_CHARACTER + 1);
  return spoken.slice(0, Math.max(0, spoken.lastIndexOf(' ')));
}

it('leaves in the history what was heard', async () => {
  const call = await stage.call();
  const { provider, caller } = call;
  provider.speech(({ input }) => (sentences.includes(input) ? { msPerCharacter: MS_PER_CHARACTER, marksParts: true } : {}));
  provider.chat(() => answer);
  await call.join();
  await call.becomes({ status: 'ongoing' });
  await call.says('tell me about umbrellas');
  await eventually(() => expect(caller.heardUpTo(sentences[0]!)).toBeGreaterThan(2_000), 20);
  provider.chat(({ lastUser }) => `I heard: ${lastUser}`);
  await call.says('wait a moment', 1_500);
  await caller.hears('I heard: wait a moment');
  const kept = provider
    .requests('chat')
    .at(-1)!
    .messages.findLast(({ role }) => role === 'assistant')!.content;
  const last = sentences.findLastIndex((sentence) => caller.heardUpTo(sentence) > 0);
  const before = sentences.slice(0, last).reduce((sum, sentence) => sum + (sentence.length + 1) * MS_PER_CHARACTER, 0);
  const heardMs = before + caller.heardUpTo(sentences[last]!);
  const [least, most] = [heardIn(heardMs - TOLERANCE_MS), heardIn(heardMs + TOLERANCE_MS)];
  expect(kept.startsWith(least) && most.startsWith(kept), JSON.stringify({ least, kept, most, heardMs })).toBe(true);
  await eventually(async () =>
    expect((await call.messages()).slice(0, 3)).toMatchObject([
      { role: 'user', content: 'tell me about umbrellas' },
      { role: 'agent', content: kept, interrupted: true },
      { role: 'user', content: 'wait a moment' },
    ]),
  );
  await caller.leave();
  await call.becomes({ status: 'ended', finishReason: 'user_ended_call' });
});
