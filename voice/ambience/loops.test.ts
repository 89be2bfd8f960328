import { describe, expect, it } from 'vitest';

import { LOOP_SAMPLE_RATE, soundLoop, type Place } from './loops.ts';

const places = [
  'Office',
  'Cafe',
  'Restaurant',
  'Park',
  'Street',
  'Home',
  'Library',
  'Airport',
  'TrainStation',
  'Beach',
] as const satisfies readonly Place[];
const loops = new Map(places.map((place) => [place, soundLoop(place)]));

const rms = (samples: Int16Array): number => Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);

/** Measures how bright a loop is and how it swells, which an ear goes by: shares of the loudness per band and per second. */
function characterOf(loop: Int16Array): readonly number[] {
  const bands = [0.02, 0.06, 0.15, 0.35, 0.7].map((pole) => {
    let low = 0;
    return rms(Int16Array.from(loop, (sample) => (low += pole * (sample - low))));
  });
  const seconds = Array.from({ length: loop.length / LOOP_SAMPLE_RATE }, (_, i) =>
    rms(loop.subarray(i * LOOP_SAMPLE_RATE, (i + 1) * LOOP_SAMPLE_RATE)),
  );
  const whole = rms(loop);
  return [...bands, ...seconds].map((level) => level / whole);
}

describe('background sounds', () => {
  it.each(places)('%s is quiet, and goes on at its end as if there were none', (place) => {
    const loop = loops.get(place)!;
    expect(rms(loop)).toBeGreaterThan(100);
    expect(rms(loop)).toBeLessThan(1_500);
    const steps = Array.from({ length: loop.length - 1 }, (_, i) => Math.abs(loop[i + 1]! - loop[i]!));
    expect(Math.abs(loop[0]! - loop.at(-1)!)).toBeLessThanOrEqual(steps.reduce((most, step) => Math.max(most, step), 0));
    expect(loop.length % (LOOP_SAMPLE_RATE / 2)).toBe(0);
  });

  it('are as loud as is asked for', () => {
    expect(rms(soundLoop('Beach', 0.5)) / rms(loops.get('Beach')!)).toBeCloseTo(0.5, 1);
    expect(rms(soundLoop('Beach', 2)) / rms(loops.get('Beach')!)).toBeCloseTo(2, 1);
  });

  it('are the same each time', () => {
    expect(soundLoop('Home')).toEqual(loops.get('Home'));
  });

  it('differ from each other', () => {
    const characters = new Map(places.map((place) => [place, characterOf(loops.get(place)!)]));
    for (const one of places)
      for (const other of places) {
        if (one === other) continue;
        const [a, b] = [characters.get(one)!, characters.get(other)!];
        const distance = Math.sqrt(a.reduce((sum, level, i) => sum + (level - b[i]!) ** 2, 0));
        expect(distance, `${one} and ${other}`).toBeGreaterThan(0.3);
      }
  });
});
