/** The model knows after an interruption what the user has heard of its answer, to the word, whatever speech to text and its delay. */
import { describe, expect, it } from 'vitest';

import type { RecognizerScript } from '../support/scripted-recognizer.ts';
import { SimulatedCall } from '../support/simulated-call.ts';

const MS_PER_CHARACTER = 70;
const ROUNDS = 20;

const kinds: readonly { readonly by: RecognizerScript['by']; readonly minWords: number; readonly delaysMs: readonly number[] }[] = [
  { by: 'requests', minWords: 0, delaysMs: [0, 1_000, 300, 700] },
  { by: 'requests', minWords: 2, delaysMs: [500, 0, 1_000] },
  { by: 'stream', minWords: 0, delaysMs: [0, 100, 400] },
  { by: 'stream', minWords: 2, delaysMs: [1_000, 0, 200] },
];
/** Ways in which the sound of a sentence comes. It isn't known how long a sentence will be whose sound is still coming. */
const sounds = [
  { comes: 'at once', speed: undefined, withinWords: 0 },
  { comes: 'little by little', speed: 1.5, withinWords: 1 },
] as const;

const answerTo = (round: number): string =>
  ['Wonderful', 'Beautiful', 'Colourful', 'Delightful']
    .map((kind) => `${kind} umbrellas protect ${round} travellers everywhere.`)
    .join(' ');

/** Returns whole words: one that was begun is none. */
function wordsOf(heard: string, all: string): string {
  const isWhole = heard.length === all.length || /[\s.]/u.test(all[heard.length]!) || /[\s.]$/u.test(heard);
  return (isWhole ? heard : heard.replace(/\S+$/u, '')).trim();
}

const wordsIn = (text: string): number => text.split(' ').filter((word) => word !== '').length;

describe.each(kinds)('the model knows what was heard, with $by, $minWords words at least', ({ by, minWords, delaysMs }) => {
  it.each(sounds)(`in ${ROUNDS} interruptions of sound that comes $comes`, async ({ speed, withinWords }) => {
    let round = 0;
    const call = new SimulatedCall({
      agent: { interruptions: { minWords }, turnDetection: { endOfSpeechDelay: '600ms' } },
      recognizer: { by, understands: (_words, index) => ({ delayMs: delaysMs[index % delaysMs.length]! }) },
      voice: () => ({ msPerCharacter: MS_PER_CHARACTER, ...(speed !== undefined && { speed }) }),
      model: () => answerTo(round),
    });
    await call.says('question number zero');
    for (; round < ROUNDS;) {
      const answer = answerTo(round);
      const heard = () => call.heard.filter(({ sentence }) => answer.includes(sentence)).map(({ text }) => text);
      await call.until(() => heard().length > 0);
      // The interruption comes between the first word and the third sentence.
      await call.pass(300 + ((round * 2_311) % 9_000));
      round += 1;
      const asked = call.requests.length;
      call.speaks(`question number ${round}`);
      await call.until(() => call.requests.length > asked);
      const { asked: history } = call.requests.at(-1)!;
      const kept = /^agent: (.*)/u.exec(history.at(-2)!)?.[1] ?? '';
      const whole = wordsOf(heard().join(' '), answer);
      expect(answer.startsWith(kept)).toBe(true);
      expect(Math.abs(wordsIn(kept) - wordsIn(whole)), `${kept} | ${whole}`).toBeLessThanOrEqual(withinWords);
      expect(history.at(-1)).toBe(`user: question number ${round}`);
    }
    await call.until(() => call.heard.at(-1)!.sentence.includes(` ${ROUNDS} `));
    await call.pass(1_000);
    await call.hangsUp();
    const roles = call.messages.map(({ role }) => role);
    expect(roles).toEqual(Array.from({ length: 2 * (ROUNDS + 1) }, (_, i) => (i % 2 === 0 ? 'user' : 'agent')));
    // Each turn has figures of its own.
    const answered = call.messages.filter(({ role }) => role === 'agent');
    expect(answered.every(({ interrupted }) => interrupted)).toBe(true);
    expect(call.turns.map(({ seq }) => seq)).toEqual(answered.map(({ seq }) => seq));
    for (const { eou, llmTtft, ttsTtfb, v2v } of call.turns) {
      for (const figure of [eou, llmTtft, ttsTtfb]) expect(figure).toBeGreaterThan(0);
      // The model is asked in the pause.
      expect(v2v).toBeLessThanOrEqual(eou! + llmTtft! + ttsTtfb!);
      expect(v2v).toBeGreaterThanOrEqual(eou! + ttsTtfb!);
    }
  });
});

describe('the transcript ends with what was heard of', () => {
  it.each(['the welcome message', 'an answer'])('%s in which the user hangs up', async (kind) => {
    const text = answerTo(7);
    const call = new SimulatedCall({ agent: kind === 'an answer' ? {} : { welcomeMessage: text }, model: () => text });
    if (kind === 'an answer') await call.says('tell me about umbrellas');
    await call.until(() => call.heard.length === 2);
    await call.pass(1_234);
    const until = call.now;
    await call.hangsUp();
    const heard = call.heard.map((sentence) => sentence.text).join(' ');
    expect(call.transcript.at(-1)).toBe(`agent: ${wordsOf(heard, text)} …`);
    expect(call.heard.at(-1)!.until).toBeLessThanOrEqual(until);
  });
});
