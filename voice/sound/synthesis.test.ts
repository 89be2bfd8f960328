import { describe, expect, it } from 'vitest';

import { TextNormalizer } from '../text-normalization/index.ts';
import { Synthesis } from './synthesis.ts';

/**
 * Builds the sound of a text. @param sounds the part of the text that begins with each, with the white space behind it; absent where a
 * sentence goes on
 */
function synthesisOf(sounds: readonly (readonly [seconds: number, written?: string])[], { complete = true } = {}): Synthesis {
  const synthesis = new Synthesis();
  synthesis.begin();
  for (const [seconds, written] of sounds) {
    const answer = new TextNormalizer({ language: 'en' }).answer();
    const [sentence] = written === undefined ? [] : [...answer.push(written), ...answer.end()];
    synthesis.addSound(seconds, sentence);
  }
  if (complete) synthesis.end();
  return synthesis;
}

describe('of one sentence', () => {
  const story = 'Once upon a time there was a telephone.';
  it.each([
    [0, ''],
    [0.5, ''],
    [1.2, 'Once'],
    [4, 'Once upon a time'],
    [8, story],
    [20, story],
  ])('%d of eight seconds are heard as "%s"', (seconds, expected) => {
    expect(
      synthesisOf([[8, story]])
        .heardIn(seconds)
        .trim(),
    ).toBe(expected);
    expect(
      synthesisOf([[1, story], [3], [4]])
        .heardIn(seconds)
        .trim(),
    ).toBe(expected);
  });
});

it('each sentence takes its own time', () => {
  const spoken = synthesisOf([
    [8, 'Wait here. '],
    [1, 'It is a very long story. '],
    [1, 'The end.'],
  ]);
  expect([4.1, 8, 8.5, 9, 9.6, 10].map((seconds) => spoken.heardIn(seconds).trim())).toEqual([
    'Wait',
    'Wait here.',
    'Wait here. It is a very',
    'Wait here. It is a very long story.',
    'Wait here. It is a very long story. The',
    'Wait here. It is a very long story. The end.',
  ]);
});

it('what has no sound is not heard', () => {
  expect(synthesisOf([]).heardIn(3).trim()).toBe('');
  expect(
    synthesisOf([[2, 'First there was one. ']])
      .heardIn(9)
      .trim(),
  ).toBe('First there was one.');
});

it('what is spoken takes its time, and what was written is kept', () => {
  const spoken = synthesisOf([[10, 'It is **$4,200.50** now.']]);
  // The amount ends with the 31st of 36 characters.
  expect(spoken.heardIn(8.4).trim()).toBe('It is');
  expect(spoken.heardIn(9).trim()).toBe('It is **$4,200.50**');
});

it('a sentence whose sound is on its way lasts as long as the ones before let expect', () => {
  const sounds = [
    [11, 'abcd efghi. '],
    [1, 'abcd efghi jkl.'],
  ] as const;
  expect(synthesisOf(sounds, { complete: false }).heardIn(12).trim()).toBe('abcd efghi.');
  expect(synthesisOf(sounds).heardIn(12).trim()).toBe('abcd efghi. abcd efghi jkl.');
  // The voice says fifteen characters in a second.
  expect(
    synthesisOf([[0.1, 'a'.repeat(14) + ' b'.repeat(8)]], { complete: false })
      .heardIn(1)
      .trim(),
  ).toBe('a'.repeat(14));
});

it('languages without spaces have words too', () => {
  const heard = synthesisOf([[9, '電話がありました。']])
    .heardIn(4)
    .trim();
  expect(heard.length).toBeGreaterThan(1);
  expect(heard.length).toBeLessThanOrEqual(4);
});
