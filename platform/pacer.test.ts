import { expect, it } from 'vitest';

import { FakeClock } from '../test/support/fake-clock.ts';
import { Pacer } from './pacer.ts';

it('has a loop pause once a slice of ten milliseconds is used up, and not before', async () => {
  const clock = new FakeClock();
  const pacer = new Pacer(clock);
  clock.tick(10);
  expect(pacer.due).toBe(false);
  clock.tick(1);
  expect(pacer.due).toBe(true);
  await pacer.pause();
  expect(pacer.due).toBe(false);
});

it('lets what waits for the event loop run while it pauses', async () => {
  let ran = false;
  setImmediate(() => (ran = true));
  await new Pacer(new FakeClock()).pause();
  expect(ran).toBe(true);
});
