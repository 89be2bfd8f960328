import { expect, test } from 'vitest';

import { FakeClock, settle } from '../test/support/fake-clock.ts';
import { pollUntil } from './poll-until.ts';

/** Returns a function that finds 1, 2, 3, … */
function counting() {
  const look = () => (look.made += 1);
  look.made = 0;
  return look;
}

test('looks at once, then after each interval, until what it finds will do', async () => {
  const clock = new FakeClock();
  const look = counting();
  const found = pollUntil(look, (count) => count === 3, { everyMs: 100, clock });
  await settle();
  expect([look.made, clock.nextIn]).toEqual([1, 100]);
  await clock.advance(200);
  expect(await found).toBe(3);
  expect(clock.timers).toBe(0);
});

test('what was found last is returned when the time is over', async () => {
  const clock = new FakeClock();
  const found = pollUntil(counting(), () => false, { everyMs: 100, withinMs: 250, clock });
  await clock.advance(300);
  expect(await found).toBe(4);
  expect(await pollUntil(counting(), () => false, { everyMs: 100, withinMs: 0, clock })).toBe(1);
});

test('an abort ends the waiting', async () => {
  const clock = new FakeClock();
  const stop = new AbortController();
  const look = counting();
  const found = pollUntil(look, () => false, { everyMs: 100, clock, signal: stop.signal });
  await settle();
  stop.abort();
  expect(await found).toBe(1);
  expect([look.made, clock.timers]).toEqual([1, 0]);
});

test('a look that fails ends it', async () => {
  const failing = () => Promise.reject(new Error('nothing to see'));
  await expect(pollUntil(failing, () => false, { everyMs: 100, clock: new FakeClock() })).rejects.toThrow('nothing to see');
});
