import { expect, it } from 'vitest';

import { UserError } from '../../platform/user-error.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { patiently } from './patiently.ts';
import { RestError } from './rest-client.ts';

const answered = (status: number): RestError => new RestError(status, { message: 'no' }, { method: 'GET', path: '/v1/calls' });
const unanswered = new UserError('http://127.0.0.1:1 does not answer');

it('bears an api that is being replaced for a minute, each time', async () => {
  const clock = new FakeClock();
  const read = patiently(clock);
  for (const failure of [unanswered, answered(503), answered(429)]) {
    // The time before the first failure doesn't count, however long nobody has read.
    await clock.advance(600_000);
    expect(await read(() => Promise.reject(failure))).toBeUndefined();
    await clock.advance(59_000);
    expect(await read(() => Promise.reject(failure))).toBeUndefined();
    expect(await read(() => Promise.resolve('there'))).toBe('there');
  }
  expect(await read(() => Promise.reject(unanswered))).toBeUndefined();
  await clock.advance(60_000);
  await expect(read(() => Promise.reject(unanswered))).rejects.toBe(unanswered);
});

it.each([answered(404), answered(401), new TypeError('a fault of ours')])('does not wait for what %s would change', async (failure) => {
  await expect(patiently(new FakeClock())(() => Promise.reject(failure))).rejects.toBe(failure);
});
