import { expect, it } from 'vitest';

import { Batcher, type BatcherOptions } from './batcher.ts';

/** Returns a batcher whose work ends on command. */
function slowly(options: Partial<BatcherOptions<number, number>> = {}) {
  const begun: { readonly items: readonly number[]; readonly end: PromiseWithResolvers<void> }[] = [];
  const batches = new Batcher<number, number>({
    most: 10,
    weightOf: (item) => item,
    ...options,
    work: async (items) => {
      const end = Promise.withResolvers<void>();
      begun.push({ items, end });
      await end.promise;
      return items.map((item) => item * 2);
    },
  });
  return { batches, begun };
}

it('works on the first at once, and on what came meanwhile together, for each key', async () => {
  const { batches, begun } = slowly({ keyOf: (item) => (item === 4 ? 'b' : 'a') });
  const first = batches.add(1);
  await expect.poll(() => begun.map(({ items }) => items)).toEqual([[1]]);
  const others = [batches.add(2), batches.add(3)];
  const elsewhere = batches.add(4);
  await expect.poll(() => begun.length).toBe(2);
  expect(begun[1]?.items).toEqual([4]);
  expect(batches.size).toBe(4);
  begun[0]?.end.resolve();
  expect(await first).toBe(2);
  await expect.poll(() => begun[2]?.items).toEqual([2, 3]);
  for (const { end } of begun) end.resolve();
  expect(await Promise.all(others)).toEqual([4, 6]);
  expect(await elsewhere).toBe(8);
  await batches.idle();
  expect(batches.size).toBe(0);
});

it('keeps batches within number and weight, and takes what is too heavy alone', async () => {
  const { batches, begun } = slowly({ most: 3, mostWeight: 10 });
  const added = [1, 2, 3, 4, 50, 6, 4, 1].map((item) => batches.add(item));
  for (let at = 0; at < 5; at += 1) {
    await expect.poll(() => begun.length).toBe(at + 1);
    begun[at]?.end.resolve();
  }
  expect(begun.map(({ items }) => items)).toEqual([[1, 2, 3], [4], [50], [6, 4], [1]]);
  expect(await Promise.all(added)).toEqual([2, 4, 6, 8, 100, 12, 8, 2]);
});

it('fails all of a batch, and goes on with the next', async () => {
  const { batches, begun } = slowly();
  const lost = [batches.add(1), batches.add(2)];
  await expect.poll(() => begun.length).toBe(1);
  const next = batches.add(3);
  begun[0]?.end.reject(new Error('away'));
  expect((await Promise.allSettled(lost)).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await expect.poll(() => begun.length).toBe(2);
  begun[1]?.end.resolve();
  expect(await next).toBe(6);
});

it('goes on beside a batch that hangs, where several may be under way', async () => {
  const { batches, begun } = slowly({ atOnce: 2 });
  void batches.add(1);
  await expect.poll(() => begun.length).toBe(1);
  const second = batches.add(2);
  await expect.poll(() => begun.length).toBe(2);
  const third = batches.add(3);
  begun[1]?.end.resolve();
  expect(await second).toBe(4);
  await expect.poll(() => begun[2]?.items).toEqual([3]);
  begun[2]?.end.resolve();
  expect(await third).toBe(6);
  expect(batches.size).toBe(1);
});

it.each([0, 1, 2, 3, 4, 5, 6, 7, 8])('takes what comes %i microtasks after the last item had its result', async (microtasks) => {
  const batcher = new Batcher<number, number>({ most: 10, work: async (items) => items });
  await batcher.add(1);
  for (let waited = 0; waited < microtasks; waited += 1) await Promise.resolve();
  expect(await batcher.add(2)).toBe(2);
});
