import { expect, it } from 'vitest';

import { levelOf, rms, withLevel } from './level.ts';

it('is even in decibels, from the noise of a microphone to full scale', () => {
  expect([levelOf(1), levelOf(0.1), levelOf(0.001), levelOf(0.000_01), levelOf(0), levelOf(2)]).toEqual([100, 67, 0, 0, 0, 100]);
});

it('is of the root mean square', () => {
  expect(rms([0.5, -0.5, 0.5, -0.5])).toBe(0.5);
  expect(rms([])).toBe(0);
});

it('keeps the last levels', () => {
  expect(withLevel([1, 2, 3], 4, 3)).toEqual([2, 3, 4]);
});
