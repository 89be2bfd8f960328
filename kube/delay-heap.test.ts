import assert from 'node:assert/strict';

import * as fc from 'fast-check';
import { expect, it } from 'vitest';

import { DelayHeap } from './delay-heap.ts';

it('hands keys out in the order of their times, each at the earliest it was given', () => {
  const key = fc.integer({ min: 0, max: 15 });
  const step = fc.oneof(
    fc.record({ op: fc.constant('add' as const), key, at: fc.integer({ min: 0, max: 50 }) }),
    fc.record({ op: fc.constant('take' as const), now: fc.integer({ min: 0, max: 60 }) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
      const heap = new DelayHeap<number>();
      const model = new Map<number, number>();
      for (const each of steps) {
        if (each.op === 'add') {
          heap.add(each.key, each.at);
          model.set(each.key, Math.min(each.at, model.get(each.key) ?? Infinity));
        } else {
          const earliest = Math.min(...model.values());
          const taken = heap.takeDue(each.now);
          assert.equal(taken === undefined ? undefined : model.get(taken), earliest > each.now ? undefined : earliest);
          model.delete(taken ?? -1);
        }
        expect(heap.nextAt).toBe(model.size > 0 ? Math.min(...model.values()) : undefined);
      }
    }),
  );
});
