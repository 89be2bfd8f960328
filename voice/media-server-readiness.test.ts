import { expect, it } from 'vitest';

import { Readiness } from '../platform/lifecycle.ts';
import { FakeClock } from '../test/support/fake-clock.ts';
import { MediaServerReadiness } from './media-server-readiness.ts';

it('is ready while the agent server measures its load', () => {
  const readiness = new Readiness();
  const clock = new FakeClock();
  const connection = new MediaServerReadiness({ readiness, clock });
  expect(readiness.reasons).toEqual(['media server: not registered yet']);
  for (let n = 0; n < 10; n += 1) {
    connection.seen();
    expect(readiness.isReady).toBe(true);
    clock.tick(10_000);
  }
  clock.tick(5_000);
  expect(readiness.reasons).toEqual(['media server: connection lost; reconnecting']);
  connection.seen();
  expect(readiness.isReady).toBe(true);
  connection.close();
  clock.tick(60_000);
  expect(readiness.isReady).toBe(true);
});
