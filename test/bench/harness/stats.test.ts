import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { median, pairedRatio, percentile, summarize } from './stats.ts';

const values = fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), { minLength: 1, maxLength: 50 });

describe('percentile', () => {
  it('is the nearest rank', () => {
    const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);
    expect(percentile(hundred, 50)).toBe(50);
    expect(percentile(hundred, 99)).toBe(99);
    expect(percentile(hundred, 100)).toBe(100);
    expect(percentile(hundred, 0)).toBe(1);
    expect(percentile([15, 20, 35, 40, 50], 40)).toBe(20);
  });

  it('sorts numbers, not words', () => {
    expect(percentile([10, 9, 100], 50)).toBe(10);
  });

  it('is a measured value that at least p percent do not exceed', () => {
    fc.assert(
      fc.property(values, fc.integer({ min: 1, max: 100 }), (all, p) => {
        const found = percentile(all, p);
        expect(all).toContain(found);
        expect(all.filter((value) => value <= found).length).toBeGreaterThanOrEqual((p / 100) * all.length);
        expect(all.filter((value) => value < found).length).toBeLessThan((p / 100) * all.length);
      }),
    );
  });

  it('does not invent a value', () => {
    expect(percentile([], 50)).toBeNaN();
  });
});

describe('median', () => {
  it('takes the middle, or the mean of the two middle values', () => {
    expect(median([3, 1, 2])).toBe(2);
    expect(median([4, 1, 3, 2])).toBe(2.5);
    expect(median([7])).toBe(7);
    expect(median([])).toBeNaN();
  });

  it('leaves its input alone', () => {
    const input = [3, 1, 2];
    median(input);
    expect(input).toEqual([3, 1, 2]);
  });
});

describe('summarize', () => {
  it('orders its percentiles', () => {
    fc.assert(
      fc.property(values, (all) => {
        const summary = summarize(all);
        const order = [summary.min, summary.p50, summary.p90, summary.p99, summary.max];
        expect(order).toEqual([...order].sort((a, b) => a - b));
        expect(summary.count).toBe(all.length);
      }),
    );
  });

  it('knows the mean', () => {
    expect(summarize([1, 2, 6]).mean).toBe(3);
  });
});

describe('pairedRatio', () => {
  it('compares each round with its neighbour, so a disturbance of both leaves the ratio alone', () => {
    expect(pairedRatio([100, 10, 100], [50, 5, 50])).toBe(2);
  });

  it('takes the median of the pairs', () => {
    expect(pairedRatio([2, 3, 40], [1, 1, 1])).toBe(3);
  });
});
