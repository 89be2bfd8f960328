import { expect, it } from 'vitest';

import { FakeClock } from '../../test/support/fake-clock.ts';
import { Rooms } from './rooms.ts';

it('gives each endpoint its own places, and a free one to who has waited longest', async () => {
  const clock = new FakeClock();
  const rooms = new Rooms({ clock, perEndpoint: 2 });
  expect([await rooms.take('a', 0), await rooms.take('a', 0), await rooms.take('b', 0)]).toEqual([true, true, true]);
  const order: string[] = [];
  const first = rooms.take('a', 100).then((got) => order.push(`first ${got}`));
  const second = rooms.take('a', 50).then((got) => order.push(`second ${got}`));
  const third = rooms.take('a', 100).then((got) => order.push(`third ${got}`));
  await clock.advance(60);
  await second;
  rooms.give('a');
  await first;
  rooms.give('a');
  await third;
  expect(order).toEqual(['second false', 'first true', 'third true']);
  // Three taken, two given on, so that two are in use.
  const late = rooms.take('a', 10);
  await clock.advance(10);
  expect(await late).toBe(false);
  rooms.give('a');
  rooms.give('a');
  expect(await rooms.take('a', 0)).toBe(true);
});
