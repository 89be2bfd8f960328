import * as fc from 'fast-check';
import { expect, it } from 'vitest';

import { EndpointSlots } from './endpoint-slots.ts';

it('gives one endpoint eight slots, and its neighbour as many', () => {
  const slots = new EndpointSlots();
  const takeAll = (uid: string): number => {
    let count = 0;
    while (slots.take(uid)) count += 1;
    return count;
  };
  expect([takeAll('a'), takeAll('b')]).toEqual([8, 8]);
  expect(slots.take('a')).toBe(false);
  slots.give('a');
  expect(slots.take('a')).toBe(true);
});

it.each([1, 32, 40, 96])('keeps room for those who answer, and for new ones, while %i endpoints hang', (hanging) => {
  const slots = new EndpointSlots();
  for (let index = 0; index < hanging; index += 1) while (slots.take(`hangs-${index}`));
  expect(slots.take('new')).toBe(true);
  let taken = 0;
  while (slots.take('answers', { answers: true })) taken += 1;
  expect(taken).toBe(8);
});

it('never gives out more than there are, and counts right whatever happens', () => {
  const step = fc.record({
    uid: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
    give: fc.boolean(),
    answers: fc.boolean(),
    limit: fc.integer({ min: 0, max: 10 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), fc.integer({ min: 1, max: 20 }), (steps, inAll) => {
      const slots = new EndpointSlots({ perEndpoint: 4, inAll });
      const model = new Map<string, number>();
      for (const { uid, give, limit, answers } of steps) {
        const before = model.get(uid) ?? 0;
        if (give && before > 0) {
          slots.give(uid);
          model.set(uid, before - 1);
        } else if (!give && slots.take(uid, { limit, answers })) {
          model.set(uid, before + 1);
          expect(before).toBeLessThan(Math.min(4, limit));
        }
        const total = [...model.values()].reduce((sum, count) => sum + count, 0);
        expect(slots.total).toBe(total);
        expect(total).toBeLessThanOrEqual(inAll);
        expect(slots.of(uid)).toBe(model.get(uid) ?? 0);
      }
    }),
  );
});

it('throws when a slot that is not taken is released', () => {
  expect(() => new EndpointSlots().give('a')).toThrow(RangeError);
});
