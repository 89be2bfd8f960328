import fc from 'fast-check';
import { expect, it } from 'vitest';

import { RECORDING_RATE } from './encoder/rate.ts';
import { StereoBuffer } from './stereo-buffer.ts';

it('has every sample of both sides in its place, whatever is put and taken at a time', () => {
  const sound = fc.record({
    side: fc.constantFrom(0, 1),
    gap: fc.nat(9 * RECORDING_RATE),
    samples: fc.int16Array({ minLength: 1, maxLength: 50 }),
  });
  fc.assert(
    fc.property(
      fc.array(fc.record({ sounds: fc.array(sound, { maxLength: 4 }), take: fc.nat(3 * RECORDING_RATE) }), { maxLength: 6 }),
      (steps) => {
        const buffer = new StereoBuffer();
        const expected = new Map<number, number>();
        for (const { sounds, take } of steps) {
          for (const { side, gap, samples } of sounds) {
            const start = buffer.from + gap;
            buffer.put(side, samples, start);
            for (const [at, sample] of samples.entries()) expected.set(2 * (start + at) + side, sample);
          }
          const { from } = buffer;
          const taken = buffer.take(from + take);
          expect(taken).toHaveLength(2 * take);
          expect(buffer.from).toBe(from + take);
          const wrong = taken.findIndex((value, at) => value !== (expected.get(2 * from + at) ?? 0));
          expect(wrong).toBe(-1);
        }
      },
    ),
    { numRuns: 30 },
  );
});
