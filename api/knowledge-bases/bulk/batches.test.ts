import { Readable } from 'node:stream';

import { expect, it } from 'vitest';

import { FakeClock } from '../../../test/support/fake-clock.ts';
import { batches } from './batches.ts';

const options = (clock: FakeClock) => ({ items: 3, weight: 10, weightOf: (item: number) => item, idleMs: 250, clock });

async function* from(items: readonly number[], failure?: Error): AsyncGenerator<number> {
  yield* items;
  if (failure !== undefined) throw failure;
}

it('ends a batch by count and by weight, and keeps the order', async () => {
  expect(await Readable.from(batches(from([1, 1, 1, 1, 20, 1, 9, 1]), options(new FakeClock()))).toArray()).toEqual([
    [1, 1, 1],
    [1, 20],
    [1, 9],
    [1],
  ]);
  expect(await Readable.from(batches(from([]), options(new FakeClock()))).toArray()).toEqual([]);
});

it('hands over what came before a failure', async () => {
  const seen: (readonly number[])[] = [];
  const reading = (async () => {
    for await (const batch of batches(from([1, 2], new Error('broken off')), options(new FakeClock()))) seen.push(batch);
  })();
  await expect(reading).rejects.toThrow('broken off');
  expect(seen).toEqual([[1, 2]]);
});

it('does not wait longer than its idle time for the next item', async () => {
  const clock = new FakeClock();
  const late = Promise.withResolvers<void>();
  async function* slow(): AsyncGenerator<number> {
    yield 1;
    await late.promise;
    yield 2;
  }
  const reading = batches(slow(), options(clock));
  const first = reading.next();
  await clock.advance(250);
  expect((await first).value).toEqual([1]);
  late.resolve();
  expect((await reading.next()).value).toEqual([2]);
  expect((await reading.next()).done).toBe(true);
});
