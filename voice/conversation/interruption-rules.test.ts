import { describe, expect, it } from 'vitest';

import { countsAsInterruption, wordsIn } from './interruption-rules.ts';

const LANGUAGE = 'en-US';
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
    expect(countsAsInterruption({ text, speechMs, goesOn: false }, rules, LANGUAGE)).toBe(expected);
  });

  it('never counts where interruptions are off', () => {
    expect(
      countsAsInterruption(
        { text: 'wait a moment', speechMs: 5_000, goesOn: false },
        { ...rules, enabled: false, stopWords: ['wait'] },
        LANGUAGE,
      ),
    ).toBe(false);
  });

  const own = { ...rules, minWords: 0, acknowledgements: ['Jo eh', 'ça va'], stopWords: ['Halt', '停', 'hold on'] };
  it.each([
    ['jo, eh!', 900, false],
    ['Jo eh ÇA VA, okay', 900, false],
    ['jo', 900, true],
    ['halt', 50, true],
    ['okay, hold on', 50, true],
    ['Halterung', 50, false],
    ['hold it on', 50, false],
    ['请停一下', 50, true],
  ])('"%s" for %d ms counts by the words of the agent: %s', (text, speechMs, expected) => {
    expect(countsAsInterruption({ text, speechMs, goesOn: false }, own, LANGUAGE)).toBe(expected);
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
