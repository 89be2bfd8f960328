import { expect, it } from 'vitest';

import { FakeClock } from '../../test/support/fake-clock.ts';
import { KeyedThrottle } from './keyed-throttle.ts';

it('hands a key on at once, then once for each interval, and never loses the last telling', async () => {
  const clock = new FakeClock();
  const told: string[] = [];
  const coalescer = new KeyedThrottle({ clock, everyMs: 10_000, emit: (key) => told.push(`${key} at ${clock.monotonic()}`) });
  coalescer.tell('a');
  for (let ms = 0; ms < 15_000; ms += 1_000) {
    await clock.advance(1_000);
    coalescer.tell('a');
  }
  coalescer.tell('b');
  await clock.advance(60_000);
  coalescer.tell('a');
  expect(told).toEqual(['a at 0', 'a at 10000', 'b at 15000', 'a at 20000', 'a at 75000']);
  coalescer.tell('a');
  coalescer.clear();
  await clock.advance(60_000);
  expect(told).toHaveLength(5);
});
