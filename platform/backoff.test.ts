import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { backoffDelay, KeyedBackoff } from './backoff.ts';

const unit = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

describe('backoffDelay', () => {
  it('doubles from the base and stops at the maximum', () => {
    const delays = [1, 2, 3, 4, 5, 6, 7].map((failures) => backoffDelay(failures, { baseMs: 800, maxMs: 30_000, random: () => 0 }));
    expect(delays).toEqual([800, 1600, 3200, 6400, 12_800, 25_600, 30_000]);
  });

  it('stays in the upper half of its range, whatever the number of failures', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5000 }), unit, (failures, chance) => {
        const full = Math.min(300_000, 5 * 2 ** (failures - 1));
        const delay = backoffDelay(failures, { baseMs: 5, maxMs: 300_000, random: () => chance });
        expect(delay).toBeGreaterThan(full / 2 - 1e-9);
        expect(delay).toBeLessThanOrEqual(full);
      }),
    );
  });
});

describe('KeyedBackoff', () => {
  it('keeps keys apart and starts over once a key is forgotten', () => {
    const backoff = new KeyedBackoff<string>({ baseMs: 5, maxMs: 300_000, random: () => 0 });
    expect([backoff.fail('a'), backoff.fail('a'), backoff.fail('b'), backoff.fail('a')]).toEqual([5, 10, 5, 20]);
    backoff.forget('a');
    expect(backoff.fail('a')).toBe(5);
    expect(backoff.failures('b')).toBe(1);
  });

  it('holds nothing for keys that were forgotten', () => {
    const backoff = new KeyedBackoff<string>({ baseMs: 5, maxMs: 300_000 });
    for (let n = 0; n < 1000; n++) {
      backoff.fail(`key-${n}`);
      backoff.forget(`key-${n}`);
    }
    expect(backoff.size).toBe(0);
  });
});
