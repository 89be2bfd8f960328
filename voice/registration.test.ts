import { expect, it } from 'vitest';

import { Readiness } from '../platform/lifecycle.ts';
import { FakeClock } from '../test/support/fake-clock.ts';
import { Registration } from './registration.ts';

it('is there while the agent server is heard of', () => {
  const readiness = new Readiness();
  const clock = new FakeClock();
  const registration = new Registration({ readiness, clock });
  expect(readiness.reasons).toEqual(['media server: not registered yet']);
  for (let n = 0; n < 10; n += 1) {
    registration.seen();
    expect(readiness.isReady).toBe(true);
    clock.tick(10_000);
  }
  clock.tick(5_000);
  expect(readiness.reasons).toEqual(['media server: the connection is lost; it is tried again']);
  registration.seen();
  expect(readiness.isReady).toBe(true);
  registration.close();
  clock.tick(60_000);
  expect(readiness.isReady).toBe(true);
});
