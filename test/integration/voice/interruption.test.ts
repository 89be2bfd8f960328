/**
 * After an interruption the model knows what the user has heard of its answer, no more and no less, whatever speech to text and its delay.
 * `PARLEY_TEST_INTERRUPTIONS=200` interrupts so often in all.
 */
import { dispose } from '@livekit/rtc-node';
import { afterAll, describe, expect, it } from 'vitest';

import { eventually } from '../../support/eventually.ts';
import type { ReceivedChat } from '../../support/provider-server.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import type { TestCaller } from '../../support/test-caller.ts';
import { frequencyOf } from '../../support/tones.ts';
import { openStreamingStage } from './streaming-stage.ts';

const MS_PER_CHARACTER = 70;
/** Less than a word: a client goes on with the tone when no more sound comes. */
const TOLERANCE_MS = 450;

const kinds = [
  { title: 'a request for each turn', streams: false, minWords: 0, sttDelaysMs: [0, 1_000, 300, 700] },
  { title: 'a request for each turn, after two words', streams: false, minWords: 2, sttDelaysMs: [500, 0, 1_000] },
  { title: 'a stream', streams: true, minWords: 0, sttDelaysMs: [0, 100, 400] },
  { title: 'a stream, after two words', streams: true, minWords: 2, sttDelaysMs: [1_000, 0, 200] },
] as const;
const rounds = Math.ceil(Number(process.env['PARLEY_TEST_INTERRUPTIONS'] ?? 20) / kinds.length);

/** A round takes six to eight seconds where nothing else runs. */
const longestMs = 120_000 + rounds * 24_000;

afterAll(dispose);
const stage = suiteFixture(openStreamingStage);

/** Each has four sentences, with other tones than those before and after it: long enough to be interrupted on a busy machine too. */
const answers = ((): readonly (readonly string[])[] => {
  const made: (readonly string[])[] = [];
  for (let number = 100; made.length <= rounds; number += 1) {
    const answer = ['Wonderful', 'Beautiful', 'Colourful', 'Delightful'].map(
      (kind) => `${kind} umbrellas protect ${number} travellers everywhere.`,
    );
    const tones = [...(made.at(-1) ?? []), ...answer].map(frequencyOf);
    if (new Set(tones).size === tones.length) made.push(answer);
  }
  return made;
})();

/** What of it was heard in this time: whole words. */
function heardIn(sentences: readonly string[], ms: number): string {
  const text = sentences.join(' ');
  const spoken = `${text} `.slice(0, Math.max(0, ms) / MS_PER_CHARACTER + 1);
  return spoken.slice(0, Math.max(0, spoken.lastIndexOf(' ')));
}

interface Hearing {
  readonly caller: TestCaller;
  /** By `performance.now()`. */
  readonly since?: number;
  /** How long the agent can have spoken at most, in milliseconds, where the caller has not heard all that it had said. */
  readonly spokenMs?: number;
}

/** That no more and no less of an answer is kept than was heard. */
function expectHeard(kept: string, sentences: readonly string[], { caller, since = 0, spokenMs = 0 }: Hearing): void {
  const last = sentences.findLastIndex((sentence) => caller.heardUpTo(sentence, since) > 0);
  const before = sentences.slice(0, last).reduce((sum, sentence) => sum + (sentence.length + 1) * MS_PER_CHARACTER, 0);
  const heardMs = before + caller.heardUpTo(sentences[last] ?? '', since);
  const [least, most] = [heardIn(sentences, heardMs - TOLERANCE_MS), heardIn(sentences, Math.max(heardMs, spokenMs) + TOLERANCE_MS)];
  expect(kept.startsWith(least) && most.startsWith(kept), JSON.stringify({ least, kept, most, heardMs, spokenMs })).toBe(true);
}

describe.concurrent('the model knows what was heard, with', () => {
  it.each(kinds)(
    '$title',
    async ({ streams, minWords, sttDelaysMs }) => {
      const call = await stage.call({
        spec: {
          interruptions: { minWords },
          turnDetection: { endOfSpeechDelay: '600ms' },
          ...(streams && { speechToText: stage.streamingSpeechToText }),
        },
      });
      const { provider, caller } = call;
      let round = 0;
      const words = (): string => `question ${'abcdefghijklmnopqrstuvwxyz'[round % 26]} ${round}`;
      provider.speech(() => ({ msPerCharacter: MS_PER_CHARACTER, marksParts: true }));
      provider.chat(({ lastUser }) => answers[Number(lastUser.split(' ').at(-1))]!.join(' '));
      provider.heard(() => ({ text: words(), delayMs: sttDelaysMs[round % sttDelaysMs.length]! }));
      /** Until the answer begins. */
      const ask = async (): Promise<ReceivedChat> => {
        const since = performance.now();
        if (streams) provider.streamed.hear({ text: words(), msPerWord: 120, finalDelayMs: sttDelaysMs[round % sttDelaysMs.length]! });
        await caller.speak(900);
        // Where sound was lost, a moment of another answer can have this one's tone.
        await eventually(() => expect(provider.requests('chat').at(-1)?.lastUser).toContain(words()), 20);
        await caller.hears(answers[round]![0]!, { since });
        return provider.requests('chat').at(-1)!;
      };
      await call.join();
      await call.becomes({ status: 'ongoing' });
      // In many rounds tones come again.
      const answerBegan = (): number => caller.lastHeard(answers[round]![0]!)! - 1_000;
      await ask();
      while (round < rounds) {
        const answer = answers[round]!;
        const since = answerBegan();
        const heardMs = (): number => answer.reduce((sum, sentence) => sum + caller.heardFor(sentence, since), 0);
        // From the first sentence to the third.
        const until = 800 + ((round * 2_311) % 7_000);
        await eventually(() => expect(heardMs()).toBeGreaterThan(until), 20);
        round += 1;
        const { messages } = await ask();
        const last = messages.findLastIndex(({ role }) => role === 'assistant');
        expect(last, JSON.stringify({ messages, heard: caller.tones(since) })).toBeGreaterThan(0);
        // Sound that arrives with holes is heard in more pieces.
        const question = messages.slice(last + 1).map(({ content }) => content);
        expect(question.join(' ')).toMatch(new RegExp(`^${words()}( ${words()})*$`));
        expectHeard(messages[last]!.content, answer, { caller, since });
      }
      // Of less than a word there would be no message.
      const lastBegan = answerBegan();
      await eventually(() => expect(caller.heardFor(answers[round]![0]!, lastBegan)).toBeGreaterThan(1_500), 20);
      await caller.leave();
      await call.becomes({ status: 'ended', finishReason: 'user_ended_call' });
      const said = await call.messages();
      const answered = said.filter(({ role }) => role === 'agent');
      // A question in more pieces is one.
      const roles = said.map(({ role }) => role).filter((role, i, all) => role === 'agent' || role !== all[i - 1]);
      expect(roles).toEqual(Array.from({ length: 2 * (rounds + 1) }, (_, i) => (i % 2 === 0 ? 'user' : 'agent')));
      // Where calls begin on a busy machine, an answer can be over before it is interrupted.
      const whole = new Set(answers.map((sentences) => sentences.join(' ')));
      expect(answered.filter(({ content, interrupted }) => !interrupted && !whole.has(content))).toEqual([]);
      expect(answered.filter(({ interrupted }) => interrupted).length).toBeGreaterThan(rounds / 2);
      // Each with figures of its own.
      const turns = await call.turns();
      expect(turns.map(({ seq }) => seq)).toEqual(answered.map(({ seq }) => seq));
      for (const turn of turns) for (const figure of [turn.llmTtft, turn.ttsTtfb, turn.v2v]) expect(figure).toBeGreaterThan(0);
    },
    longestMs,
  );
});

describe.concurrent('the transcript ends with what was heard of', () => {
  it.each(['the welcome message', 'an answer'])('%s in which the user hangs up', async (kind) => {
    const [sentences = []] = answers;
    const text = sentences.join(' ');
    const isAnswer = kind === 'an answer';
    const call = await stage.call({ spec: isAnswer ? {} : { welcomeMessage: text } });
    const { provider, caller } = call;
    provider.speech(() => ({ msPerCharacter: MS_PER_CHARACTER, marksParts: true }));
    provider.chat(() => text);
    await call.join();
    await call.becomes({ status: 'ongoing' });
    if (isAnswer) await caller.speak(900);
    const heardMs = (): number => sentences.reduce((sum, sentence) => sum + caller.heardFor(sentence), 0);
    // In the second sentence.
    await eventually(() => expect(heardMs()).toBeGreaterThan(5_000), 20);
    await caller.leave();
    const { endedAt } = await call.becomes({ status: 'ended', finishReason: 'user_ended_call' });
    const kept = (await call.messages()).find(({ role }) => role === 'agent');
    expect(kept?.interrupted).toBe(true);
    // The agent speaks on until it learns that the user has left.
    const began = caller.heard.find(({ frequency }) => frequency === frequencyOf(sentences[0]!))!.at;
    expectHeard(kept!.content, sentences, { caller, spokenMs: endedAt!.getTime() - (performance.timeOrigin + began) });
  });
});
