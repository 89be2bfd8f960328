import { describe, expect, it } from 'vitest';

import { FakeClock } from '../../test/support/fake-clock.ts';
import { Batcher } from './batcher.ts';

function batcher(write: (batch: readonly number[]) => Promise<void>, most = 100) {
  const clock = new FakeClock();
  const refused: number[] = [];
  const waits: number[] = [];
  const one = new Batcher<number, void>({
    async write(batch) {
      await write(batch);
      return [];
    },
    most,
    isTemporary: (error) => error === 'away',
    onDelay: (_error, waitMs) => waits.push(waitMs),
    onRefused: (item) => refused.push(item),
    clock,
  });
  return { one, clock, refused, waits };
}

describe('a batcher', () => {
  it('writes together what came while it was writing, in order, and at most so many', async () => {
    const batches: (readonly number[])[] = [];
    const gate = Promise.withResolvers<void>();
    const { one } = batcher(async (batch) => {
      batches.push(batch);
      if (batches.length === 1) await gate.promise;
    }, 3);
    void one.add(1);
    await new Promise((resolve) => setImmediate(resolve));
    for (const item of [2, 3, 4, 5]) void one.add(item);
    expect(one.size).toBe(5);
    gate.resolve();
    await one.idle();
    expect(batches).toEqual([[1], [2, 3, 4], [5]]);
    expect(one.size).toBe(0);
  });

  it.each([0, 1, 2, 3, 4, 5, 6, 7, 8])('writes what comes %i microtasks after the last item was written', async (microtasks) => {
    const written: number[] = [];
    const { one } = batcher(async (batch) => void written.push(...batch));
    await one.add(1);
    for (let waited = 0; waited < microtasks; waited += 1) await Promise.resolve();
    await one.add(2);
    expect(written).toEqual([1, 2]);
  });

  it('tries again for as long as the other side is unavailable, and loses nothing', async () => {
    let away = 4;
    const written: number[] = [];
    const { one, clock, waits } = batcher(async (batch) => {
      away -= 1;
      if (away >= 0) throw 'away';
      written.push(...batch);
    });
    void one.add(1);
    void one.add(2);
    const idle = one.idle();
    await clock.advanceUntil(() => one.size === 0, { stepMs: 10 });
    await idle;
    expect(written).toEqual([1, 2]);
    expect(waits).toEqual([50, 100, 200, 400]);
  });

  it('writes all others when one can never be written', async () => {
    const written: number[] = [];
    const { one, refused } = batcher(async (batch) => {
      if (batch.includes(13)) throw new Error('not this one');
      written.push(...batch);
    });
    for (let item = 0; item < 40; item += 1) void one.add(item);
    await one.idle();
    expect(refused).toEqual([13]);
    expect(written.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, index) => index).filter((item) => item !== 13));
  });
});
