import { expect, it } from 'vitest';

import { playedTextOf } from './played-text.ts';

const story = { text: 'Once upon a time there was a telephone.', seconds: 8, complete: true };

it.each([
  [0, ''],
  [0.5, ''],
  [1.2, 'Once'],
  [4, 'Once upon a time'],
  [7.9, 'Once upon a time there was a telephone.'],
  [20, 'Once upon a time there was a telephone.'],
])('after %d of eight seconds: "%s"', (seconds, expected) => {
  expect(playedTextOf(story, seconds)).toBe(expected);
});

it('nothing is heard of what has no sound', () => {
  expect(playedTextOf({ ...story, seconds: 0 }, 3)).toBe('');
});
