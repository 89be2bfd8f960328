import { expect, it } from 'vitest';

import { tone } from '../../../test/support/tones.ts';
import { atVolume } from './volume.ts';

const RAMP = Int16Array.from({ length: 65_535 }, (_, n) => n - 32_767);

it.each([0, 0.25, 0.9])('makes it quieter by a factor of %d', (volume) => {
  expect(atVolume(RAMP, volume)).toEqual(RAMP.map((sample) => Math.round(sample * volume)));
});

it.each([1.1, 2])('makes quiet parts louder by a factor of %d, and cuts nothing off', (volume) => {
  const louder = atVolume(RAMP, volume);
  const at = (sample: number): number => louder[sample + 32_767]!;
  expect(at(5_000)).toBe(Math.round(5_000 * volume));
  expect(at(-5_000)).toBe(-at(5_000));
  expect(louder.every((sample, n) => n === 0 || sample >= louder[n - 1]!)).toBe(true);
  // Samples of different loudness stay different up to the loudest.
  expect(at(32_767)).toBeGreaterThan(at(30_000));
  expect(at(32_767)).toBeLessThanOrEqual(32_767);
});

it('makes a tone that would be cut off no square', () => {
  const loud = atVolume(tone({ frequency: 440, seconds: 0.1, sampleRate: 24_000, volume: 0.9 }), 2);
  const highest = loud.reduce((most, sample) => Math.max(most, sample), 0);
  expect(loud.filter((sample) => sample === highest).length).toBeLessThan(loud.length / 20);
});
