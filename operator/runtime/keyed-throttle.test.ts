import { expect, it } from 'vitest';

import { FakeClock } from '../../test/support/fake-clock.ts';
import { KeyedThrottle } from './keyed-throttle.ts';

it('emits a key at once, then once for each interval, and never loses the last one', async () => {
  const clock = new FakeClock();
  const emitted: string[] = [];
  const throttle = new KeyedThrottle({
    clock,
    everyMs: (key) => (key === 'slow' ? 50_000 : 10_000),
    emit: (key) => emitted.push(`${key} at ${clock.monotonic()}`),
  });
  throttle.add('a');
  for (let ms = 0; ms < 15_000; ms += 1_000) {
    await clock.advance(1_000);
    throttle.add('a');
  }
  throttle.add('b');
  await clock.advance(60_000);
  throttle.add('a');
  expect(emitted).toEqual(['a at 0', 'a at 10000', 'b at 15000', 'a at 20000', 'a at 75000']);
  throttle.add('a');
  throttle.clear();
  await clock.advance(60_000);
  expect(emitted).toHaveLength(5);
  for (const _ of [1, 2]) throttle.add('slow');
  await clock.advance(49_000);
  expect(emitted).toHaveLength(6);
  await clock.advance(2_000);
  expect(emitted).toHaveLength(7);
});
