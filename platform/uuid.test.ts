import fc from 'fast-check';
import { expect, it } from 'vitest';

import { uuidv7, uuidv7At, uuidv7Sequence } from './uuid.ts';

it('is the example of RFC 9562, appendix A.6', () => {
  const random = () => Buffer.from('0000000000000cc318c4dc0c0c07398f', 'hex');
  expect(uuidv7Sequence({ now: () => 0x017f22e279b0, random })()).toBe('017f22e2-79b0-7cc3-98c4-dc0c0c07398f');
});

it('sorts in the order in which it is made, and never repeats', () => {
  const ids = Array.from({ length: 20_000 }, () => uuidv7());
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
});

it('sorts so whatever the clock does, and is a UUIDv7 each time', () => {
  const moment = fc.record({ forward: fc.integer({ min: -5_000, max: 50 }), ids: fc.integer({ min: 1, max: 5_000 }) });
  fc.assert(
    fc.property(fc.array(moment, { minLength: 1, maxLength: 4 }), (moments) => {
      let now = Date.UTC(2026, 0, 1);
      const next = uuidv7Sequence({ now: () => now });
      const ids = moments.flatMap(({ forward, ids: count }) => {
        now += forward;
        return Array.from({ length: count }, next);
      });
      expect(ids.filter((id, i) => i > 0 && id <= ids[i - 1]!)).toEqual([]);
      expect(ids.filter((id) => !/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id))).toEqual([]);
    }),
    { numRuns: 30 },
  );
});

it('has the time of its making where the clock goes forward, and few ids need no later one', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 1_000 }), { maxLength: 50 }), (steps) => {
      let now = Date.UTC(2026, 0, 1);
      const next = uuidv7Sequence({ now: () => now });
      for (const step of steps) {
        now += step;
        expect(timeOf(next())).toBe(now);
        // Two ids fill a millisecond only where the first one took the last place.
        expect(timeOf(next()) - now).toBeLessThanOrEqual(1);
        now += 1;
      }
    }),
  );
});

it('stands in the moment that is named, in the order of its making', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 48 - 5 }), (ms) => {
      const ids = Array.from({ length: 10 }, () => uuidv7At(ms));
      expect(ids.toSorted()).toEqual(ids);
      // Each millisecond begins at a random count: few ids end one, and hardly ever the next one, too.
      for (const id of ids) expect(timeOf(id) - ms).toBeOneOf([0, 1, 2, 3]);
    }),
  );
});

const timeOf = (id: string): number => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);
