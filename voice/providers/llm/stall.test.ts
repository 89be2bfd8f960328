import { expect, it } from 'vitest';

import { STALL_MS, stallLimitMs } from './stall.ts';

const SENTENCE = 'One moment, I look it up.';
const answer = { said: 'One moment, I look', saidForMs: 0, offersTools: true, callsTool: false };

it.each([
  ['in the middle of a sentence', {}, STALL_MS],
  ['between sentences without tools', { said: SENTENCE, offersTools: false }, STALL_MS],
  ['between sentences, while the caller hears the last one', { said: SENTENCE }, 1_667],
  ['between sentences, of which the caller has heard a part', { said: SENTENCE, saidForMs: 300 }, 1_367],
  ['between sentences that the caller has heard', { said: SENTENCE, saidForMs: 5_000 }, STALL_MS],
  ['after many sentences', { said: SENTENCE.repeat(10) }, 2_000],
  ['in a call of a tool', { callsTool: true }, 2_000],
])('an answer may be silent %s', (_when, change, ms) => {
  expect(Math.round(stallLimitMs({ ...answer, ...change }))).toBe(ms);
});
