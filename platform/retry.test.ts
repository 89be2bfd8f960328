import { expect, test } from 'vitest';

import { FakeClock, settle } from '../test/support/fake-clock.ts';
import { retry } from './retry.ts';

/** Returns an attempt that fails with each of the errors, then succeeds. */
function failing(...errors: Error[]) {
  const attempt = async () => {
    attempt.made += 1;
    const error = errors[attempt.made - 1];
    if (error !== undefined) throw error;
    return 'done';
  };
  attempt.made = 0;
  return attempt;
}

test('waits before each further attempt, as long as the error and the number of failures ask for', async () => {
  const clock = new FakeClock();
  const seen: unknown[] = [];
  const attempt = failing(new Error('one'), new Error('two'));
  const result = retry(attempt, {
    clock,
    delayMs: (error, failures) => {
      seen.push([error, failures]);
      return failures * 100;
    },
  });
  await clock.advance(99);
  expect(attempt.made).toBe(1);
  await clock.advance(1);
  expect([attempt.made, clock.nextIn]).toEqual([2, 200]);
  await clock.advance(200);
  expect(await result).toBe('done');
  expect(seen).toEqual([
    [new Error('one'), 1],
    [new Error('two'), 2],
  ]);
});

test('the last failure is thrown where no attempt is to follow', async () => {
  const attempt = failing(new Error('one'), new Error('two'), new Error('three'));
  const options = { clock: new FakeClock(), delayMs: (_error: unknown, failures: number) => (failures < 2 ? 0 : undefined) };
  await expect(retry(attempt, options)).rejects.toThrow('two');
  expect(attempt.made).toBe(2);
});

test('nothing is tried again once the signal has aborted, be it in an attempt or between two', async () => {
  const clock = new FakeClock();
  const stop = new AbortController();
  const options = { clock, signal: stop.signal, delayMs: () => 100 };
  const waiting = failing(new Error('one'));
  const result = retry(waiting, options);
  await settle();
  expect(clock.timers).toBe(1);
  stop.abort(new Error('stopped'));
  await expect(result).rejects.toThrow('stopped');
  await expect(retry(failing(new Error('two')), options)).rejects.toThrow('stopped');
  expect([waiting.made, clock.timers]).toEqual([1, 0]);
});
