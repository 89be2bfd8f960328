import { expect, it } from 'vitest';

import { Batches } from './batches.ts';

/** Runs work that ends on command. */
function slowly(options: { readonly most?: number; readonly mostWeight?: number } = {}) {
  const begun: { readonly key: string; readonly items: readonly number[]; readonly end: PromiseWithResolvers<void> }[] = [];
  const batches = new Batches<number, number>({
    most: 10,
    weightOf: (item) => item,
    ...options,
    work: async (key, items) => {
      const end = Promise.withResolvers<void>();
      begun.push({ key, items, end });
      await end.promise;
      return items.map((item) => item * 2);
    },
  });
  return { batches, begun };
}

it('works on the first at once, and on what came meanwhile together', async () => {
  const { batches, begun } = slowly();
  const first = batches.add('a', 1);
  await expect.poll(() => begun.map(({ items }) => items)).toEqual([[1]]);
  const others = [batches.add('a', 2), batches.add('a', 3)];
  const elsewhere = batches.add('b', 4);
  await expect.poll(() => begun.length).toBe(2);
  expect(begun[1]).toMatchObject({ key: 'b', items: [4] });
  begun[0]?.end.resolve();
  expect(await first).toBe(2);
  await expect.poll(() => begun[2]?.items).toEqual([2, 3]);
  for (const { end } of begun) end.resolve();
  expect(await Promise.all(others)).toEqual([4, 6]);
  expect(await elsewhere).toBe(8);
});

it('keeps batches within number and weight, and takes what is too heavy alone', async () => {
  const { batches, begun } = slowly({ most: 3, mostWeight: 10 });
  const added = [1, 2, 3, 4, 50, 6, 4, 1].map((item) => batches.add('a', item));
  for (let at = 0; at < 5; at += 1) {
    await expect.poll(() => begun.length).toBe(at + 1);
    begun[at]?.end.resolve();
  }
  expect(begun.map(({ items }) => items)).toEqual([[1, 2, 3], [4], [50], [6, 4], [1]]);
  expect(await Promise.all(added)).toEqual([2, 4, 6, 8, 100, 12, 8, 2]);
});

it('fails all of a batch, and goes on with the next', async () => {
  const { batches, begun } = slowly();
  const lost = [batches.add('a', 1), batches.add('a', 2)];
  await expect.poll(() => begun.length).toBe(1);
  const next = batches.add('a', 3);
  begun[0]?.end.reject(new Error('away'));
  expect((await Promise.allSettled(lost)).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await expect.poll(() => begun.length).toBe(2);
  begun[1]?.end.resolve();
  expect(await next).toBe(6);
});
