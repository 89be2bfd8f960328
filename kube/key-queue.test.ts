import assert from 'node:assert/strict';

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { KeyQueue, OVERTAKES_ALLOWED, priorities, type Priority } from './key-queue.ts';

describe('KeyQueue', () => {
  it('holds a key once, however often it is added', () => {
    const queue = new KeyQueue<string>();
    for (let n = 0; n < 100; n++) queue.add('a', 'user', n);
    expect(queue.depth).toBe(1);
    expect(queue.take()).toEqual({ key: 'a', priority: 'user', waitedSince: 0 });
    expect(queue.take()).toBeUndefined();
  });

  it('never hands out a key that is being processed, and hands it out once more when it was added meanwhile', () => {
    const queue = new KeyQueue<string>();
    queue.add('a', 'user', 0);
    queue.take();
    queue.add('a', 'resync', 1);
    queue.add('a', 'initial', 2);
    expect(queue.take()).toBeUndefined();
    expect(queue.done('a', 3)).toBe(true);
    expect(queue.take()).toMatchObject({ key: 'a', priority: 'initial' });
    expect(queue.done('a', 4)).toBe(false);
    expect(queue.depth).toBe(0);
  });

  it('hands out the most urgent first and lets a key become more urgent, never less', () => {
    const queue = new KeyQueue<string>();
    queue.add('r', 'resync', 0);
    queue.add('i', 'initial', 1);
    queue.add('u', 'user', 2);
    queue.add('late', 'resync', 3);
    queue.add('late', 'user', 4);
    queue.add('late', 'initial', 5);
    expect([queue.take(), queue.take(), queue.take(), queue.take()].map((taken) => `${taken?.key} ${taken?.waitedSince}`)).toEqual([
      'u 2',
      'late 3',
      'i 1',
      'r 0',
    ]);
  });

  it('starves no key: one that waits has its turn after a bounded number of others', () => {
    const priority = fc.constantFrom(...priorities);
    fc.assert(
      fc.property(
        fc.constantFrom<Priority>('initial', 'resync'),
        fc.array(priority, { minLength: 40, maxLength: 80 }),
        (patient, arrivals) => {
          const queue = new KeyQueue<string>();
          queue.add('patient', patient, 0);
          for (let n = 0; n < OVERTAKES_ALLOWED * 4; n++) queue.add(`before-${n}`, n % 2 ? 'user' : 'initial', 0);
          let picks = 0;
          for (;;) {
            picks++;
            queue.add(`more-${picks}`, arrivals[picks % arrivals.length] ?? 'user', picks);
            queue.add(`urgent-${picks}`, 'user', picks);
            const taken = queue.take();
            if (taken) queue.done(taken.key, picks);
            if (taken?.key === 'patient') break;
            expect(picks).toBeLessThan(OVERTAKES_ALLOWED * 40);
          }
          // In the lowest lane it is first in its own, and can be passed over only while lanes above have their own overdue turns.
          assert(patient !== 'resync' || picks <= OVERTAKES_ALLOWED + 2);
        },
      ),
    );
  });

  it('equals a naive model of waiting, processing and dirty keys', () => {
    const key = fc.constantFrom('a', 'b', 'c', 'd');
    const step = fc.oneof(
      fc.record({ op: fc.constant('add' as const), key, priority: fc.constantFrom(...priorities) }),
      fc.constant({ op: 'take' as const }),
      fc.record({ op: fc.constant('done' as const), nth: fc.nat(5) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const queue = new KeyQueue<string>();
        const waiting = new Set<string>();
        const processing: string[] = [];
        const dirty = new Set<string>();
        steps.forEach((each, now) => {
          if (each.op === 'add') {
            const target = processing.includes(each.key) ? dirty : waiting;
            assert.equal(queue.add(each.key, each.priority, now), !target.has(each.key));
            target.add(each.key);
          } else if (each.op === 'take') {
            const taken = queue.take();
            assert.equal(taken === undefined, waiting.size === 0);
            if (!taken) return;
            assert(waiting.delete(taken.key));
            assert(!processing.includes(taken.key));
            processing.push(taken.key);
          } else {
            const [finished] = processing.splice(each.nth % Math.max(1, processing.length), 1);
            if (finished === undefined) return;
            assert.equal(queue.done(finished, now), dirty.has(finished));
            if (dirty.delete(finished)) waiting.add(finished);
          }
          expect(queue.depth).toBe(waiting.size);
        });
      }),
    );
  });
});
