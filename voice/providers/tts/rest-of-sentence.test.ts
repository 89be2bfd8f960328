import { expect, it } from 'vitest';

import { restOf, SpeechRate } from './rest-of-sentence.ts';

const SENTENCE = 'We are open from nine to six.';

it.each([
  ['nothing was heard', 0, SENTENCE],
  ['a word was cut off', 0.5, 'are open from nine to six.'],
  ['a word has just ended', 0.6, 'open from nine to six.'],
  ['the last word was cut off', 2.7, 'six.'],
  ['all but its full stop was heard', 2.8, ''],
  ['all of it was heard', 2.9, ''],
  ['more was heard than it takes', 9, ''],
])('is from the word on that was cut off: %s', (_what, seconds, rest) => {
  expect(restOf(SENTENCE, seconds, 10)).toBe(rest);
});

it('cuts a script without spaces where the sound ends', () => {
  expect(restOf('わたしたちは九時に', 0.4, 10)).toBe('ちは九時に');
});

it('knows a voice by what it has said', () => {
  const rate = new SpeechRate();
  expect(rate.charactersPerSecond).toBe(15);
  rate.said('x'.repeat(40), 2);
  rate.said('x'.repeat(10), 0.5);
  expect(rate.charactersPerSecond).toBe(20);
});
