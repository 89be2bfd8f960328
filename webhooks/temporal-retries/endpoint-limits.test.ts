import { expect, it } from 'vitest';

import { FakeClock } from '../../test/support/fake-clock.ts';
import { EndpointLimits } from './endpoint-limits.ts';

it('gives each endpoint its own places, and a free one to who has waited longest', async () => {
  const clock = new FakeClock();
  const limits = new EndpointLimits({ clock, perEndpoint: 2 });
  expect([await limits.acquire('a', 0), await limits.acquire('a', 0), await limits.acquire('b', 0)]).toEqual([true, true, true]);
  const order: string[] = [];
  const first = limits.acquire('a', 100).then((got) => order.push(`first ${got}`));
  const second = limits.acquire('a', 50).then((got) => order.push(`second ${got}`));
  const third = limits.acquire('a', 100).then((got) => order.push(`third ${got}`));
  await clock.advance(60);
  await second;
  limits.release('a');
  await first;
  limits.release('a');
  await third;
  expect(order).toEqual(['second false', 'first true', 'third true']);
  // Three taken, two given on, so that two are in use.
  const late = limits.acquire('a', 10);
  await clock.advance(10);
  expect(await late).toBe(false);
  limits.release('a');
  limits.release('a');
  expect(await limits.acquire('a', 0)).toBe(true);
});
