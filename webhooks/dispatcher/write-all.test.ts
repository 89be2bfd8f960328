import { expect, it } from 'vitest';

import { FakeClock } from '../../test/support/fake-clock.ts';
import { writeAll } from './write-all.ts';

function writer(write: (batch: readonly number[]) => Promise<void>) {
  const clock = new FakeClock();
  const refused: number[] = [];
  const waits: number[] = [];
  const written = (batch: readonly number[]) =>
    writeAll(batch, {
      write: async (items) => {
        await write(items);
        return items;
      },
      isTemporary: (error) => error === 'away',
      onDelay: (_error, waitMs) => waits.push(waitMs),
      onRefused: (item) => refused.push(item),
      clock,
    });
  return { written, clock, refused, waits };
}

it('tries again for as long as the other side is unavailable, and loses nothing', async () => {
  let away = 4;
  const { written, clock, waits } = writer(async () => {
    away -= 1;
    if (away >= 0) throw 'away';
  });
  const results = written([1, 2]);
  await clock.advance(750);
  expect(await results).toEqual([1, 2]);
  expect(waits).toEqual([50, 100, 200, 400]);
});

it('writes all others when one can never be written', async () => {
  const { written, refused } = writer(async (batch) => {
    if (batch.includes(13)) throw new Error('not this one');
  });
  const items = Array.from({ length: 40 }, (_, index) => index);
  expect(await written(items)).toEqual(items.map((item) => (item === 13 ? undefined : item)));
  expect(refused).toEqual([13]);
});
