import { expect, it } from 'vitest';

import { FakeClock } from '../test/support/fake-clock.ts';
import { every, type EveryOptions } from './every.ts';

function loop(options: Partial<EveryOptions>, work: (round: number) => 'again' | 'stop' | void) {
  const clock = new FakeClock();
  const stop = new AbortController();
  const at: number[] = [];
  const logged: string[] = [];
  const logger = { warn: (_: unknown, text?: string) => void logged.push(text ?? '') } as EveryOptions['logger'];
  const ended = every(
    { intervalMs: 100, clock, logger, failure: 'failed to work; trying again', signal: stop.signal, ...options },
    async () => work(at.push(clock.monotonic())),
  );
  return { clock, stop, at, logged, ended };
}

it('works at once, after each interval, and not after the signal', async () => {
  const { clock, stop, at, ended } = loop({}, () => undefined);
  await clock.advance(250);
  stop.abort();
  await ended;
  expect(at).toEqual([0, 100, 200]);
  expect(clock.timers).toBe(0);
});

it('spreads the interval by a quarter to both sides', async () => {
  const { clock, stop, at, ended } = loop({ random: () => 0 }, () => undefined);
  await clock.advance(160);
  stop.abort();
  await ended;
  expect(at).toEqual([0, 75, 150]);
});

it('doubles the interval with each failure in a row, and logs each reason once', async () => {
  const { clock, stop, at, logged, ended } = loop({ longestIntervalMs: 350 }, (round) => {
    if (round <= 4) throw new Error(round === 4 ? 'another reason' : 'a reason');
  });
  await clock.advance(1400);
  stop.abort();
  await ended;
  expect(at).toEqual([0, 200, 550, 900, 1250, 1350]);
  expect(logged).toEqual(['failed to work; trying again', 'failed to work; trying again']);
});

it('goes on without a pause, or ends, where the work says so', async () => {
  const { clock, at, ended } = loop({}, (round) => (round < 3 ? 'again' : 'stop'));
  await ended;
  expect(at).toEqual([0, 0, 0]);
  expect(clock.timers).toBe(0);
});

it('does not log what fails because it is to stop', async () => {
  const stop = new AbortController();
  const { logged, ended } = loop({ signal: stop.signal }, () => {
    stop.abort();
    throw new Error('aborted');
  });
  await ended;
  expect(logged).toEqual([]);
});
