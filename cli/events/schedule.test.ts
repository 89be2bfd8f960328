import { describe, expect, it } from 'vitest';

import { batchSize, dueAfter, pacedBatchSize } from './schedule.ts';

describe('the schedule', () => {
  it('begins with the first event and ends with the last', () => {
    expect(dueAfter(0, 200, 1_000)).toBe(1);
    expect(dueAfter(4.9, 200, 1_000)).toBe(1);
    expect(dueAfter(5, 200, 1_000)).toBe(2);
    expect(dueAfter(1_000, 200, 1_000)).toBe(201);
    expect(dueAfter(60_000, 200, 1_000)).toBe(1_000);
    expect(dueAfter(1_999, 0.5, 3)).toBe(1);
    expect(dueAfter(2_000, 0.5, 3)).toBe(2);
  });

  it('writes single events up to 500 a second, and batches of all connections beyond', () => {
    expect([1, 200, 500, 501, 5_000].map(pacedBatchSize)).toEqual([1, 1, 1, 2, 10]);
    expect([1, 10, 63, 64, 1_000, 100_000].map(batchSize)).toEqual([1, 1, 1, 2, 31, 100]);
  });
});
