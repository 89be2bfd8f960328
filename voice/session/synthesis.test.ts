import { describe, expect, it } from 'vitest';

import { Synthesis } from './synthesis.ts';

function synthesisOf(
  text: string,
  sounds: readonly (readonly [seconds: number, sentence?: string])[],
  { complete = true } = {},
): Synthesis {
  const synthesis = new Synthesis();
  synthesis.begin();
  synthesis.addText(text);
  for (const sound of sounds) synthesis.addSound(...sound);
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
    expect(synthesisOf(story, [[8]]).heardIn(seconds)).toBe(expected);
    expect(synthesisOf(story, [[1, story], [3], [4]]).heardIn(seconds)).toBe(expected);
  });
});

it('each sentence takes its own time', () => {
  const spoken = synthesisOf('Wait here. It is a very long story. The end.', [
    [8, 'Wait here.'],
    [1, 'It is a very long story.'],
    [1, 'The end.'],
  ]);
  expect([4.1, 8, 8.5, 9, 9.6, 10].map((seconds) => spoken.heardIn(seconds))).toEqual([
    'Wait',
    'Wait here.',
    'Wait here. It is a very',
    'Wait here. It is a very long story.',
    'Wait here. It is a very long story. The',
    'Wait here. It is a very long story. The end.',
  ]);
});

it('what has no sound is not heard', () => {
  expect(synthesisOf('A telephone.', []).heardIn(3)).toBe('');
  expect(synthesisOf('First there was one. Then two.', [[2, 'First there was one.']]).heardIn(9)).toBe('First there was one.');
});

it('a sentence whose sound is on its way lasts as long as the ones before let expect', () => {
  const text = 'abcd efghi. abcd efghi jkl.';
  const sounds = [
    [11, 'abcd efghi.'],
    [1, 'abcd efghi jkl.'],
  ] as const;
  expect(synthesisOf(text, sounds, { complete: false }).heardIn(12)).toBe('abcd efghi.');
  expect(synthesisOf(text, sounds).heardIn(12)).toBe(text);
  // Fifteen characters in a second.
  expect(synthesisOf('a'.repeat(14) + ' b'.repeat(8), [[0.1]], { complete: false }).heardIn(1)).toBe('a'.repeat(14));
});

it('a text that is given after its sound has begun counts', () => {
  const synthesis = new Synthesis();
  synthesis.begin();
  synthesis.addText('One moment. ');
  synthesis.addSound(1, 'One moment.');
  synthesis.addText('It is nine.');
  synthesis.addSound(1, 'It is nine.');
  synthesis.end();
  expect(synthesis.heardIn(2)).toBe('One moment. It is nine.');
});

it('languages without spaces have words too', () => {
  const heard = synthesisOf('電話がありました。', [[9]]).heardIn(4);
  expect(heard.length).toBeGreaterThan(1);
  expect(heard.length).toBeLessThanOrEqual(4);
});
