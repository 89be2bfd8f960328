import { describe, expect, it } from 'vitest';

import { countsAsInterruption, wordsIn } from './interruption-rules.ts';

const rules = { enabled: true, minSpeechMs: 500, minWords: 2 };

describe('speech over the agent', () => {
  it.each([
    ['wait a moment', 900, true],
    ['wait a moment', 400, false],
    ['wait', 900, false],
    ['wait …', 900, false],
    // The speech is measured as one window of the detector less than it was.
    ['wait now', 470, true],
  ])('"%s" for %d ms counts: %s', (text, speechMs, expected) => {
    expect(countsAsInterruption({ text, speechMs }, rules)).toBe(expected);
  });

  it('never counts where interruptions are off', () => {
    expect(countsAsInterruption({ text: 'wait a moment', speechMs: 5_000 }, { ...rules, enabled: false })).toBe(false);
  });

  it.each([
    ['', 0],
    ['– … !', 0],
    ['ja', 1],
    ['  I  would\nlike 2 ', 4],
  ])('"%s" has %d words', (text, words) => {
    expect(wordsIn(text)).toBe(words);
  });
});
