import { expect, it } from 'vitest';

import { createLogger } from '../../../platform/logging.ts';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import type { LimitClass } from '../../limits/limit-class.ts';
import { RateLimiter } from '../../limits/rate-limiter.ts';
import { BYTES_PER_REQUEST, ENTRIES_PER_REQUEST } from './limits.ts';
import { UploadPace } from './upload-pace.ts';

/** Makes the pace of a key that may make two requests a second, and four at once; the request itself has been counted. */
function uploadPace() {
  const clock = new FakeClock();
  const perKey: LimitClass = { name: 'key', of: 'key', limit: { perSecond: 2, burst: 4 } };
  const limiter = new RateLimiter({ classes: [perKey], exchangeMs: 0, clock, logger: createLogger({ role: 'test', level: 'silent' }) });
  const take = () => limiter.take({ keyId: 'k', org: 'acme' }, { method: 'POST', path: '/bulk' });
  take();
  const stop = new AbortController();
  return { clock, stop, pace: new UploadPace({ countRequest: take, signal: stop.signal }, clock), take };
}

it.each([
  ['entries', (pace: UploadPace, requests: number) => pace.entries(requests * ENTRIES_PER_REQUEST)],
  ['bytes', (pace: UploadPace, requests: number) => pace.bytes(requests * BYTES_PER_REQUEST)],
])('slows down as many %s as are more than may come at once', async (_, send) => {
  const { clock, pace, take } = uploadPace();
  await send(pace, 4);
  expect(take().allowed).toBe(false);
  let isOver = false;
  const rest = send(pace, 3).then(() => (isOver = true));
  await clock.advance(1_499);
  expect(isOver).toBe(false);
  await clock.advance(1);
  await rest;
});

it('counts what is more, the entries or their bytes, and not both', async () => {
  const { pace, take } = uploadPace();
  await Promise.all([pace.entries(2 * ENTRIES_PER_REQUEST), pace.bytes(3 * BYTES_PER_REQUEST), pace.entries(ENTRIES_PER_REQUEST)]);
  expect([take().allowed, take().allowed]).toEqual([true, false]);
});

it('ends with the request', async () => {
  const { stop, pace } = uploadPace();
  const waiting = pace.bytes(5 * BYTES_PER_REQUEST);
  stop.abort(new Error('the request took too long'));
  await expect(waiting).rejects.toThrow('took too long');
});
