import { systemClock, type Clock } from '../../platform/clock.ts';
import { FakeClock } from './fake-clock.ts';

export interface RequestClock {
  /** Clock for a facade. */
  readonly clock: Clock;
  /** Moves the deadlines of the facade's requests; its timers are those of the requests under way. */
  readonly time: FakeClock;
}

/** Makes a clock on which only the deadlines of requests, which have `requestMs`, wait for the test. */
export function requestClock(requestMs: number): RequestClock {
  const time = new FakeClock();
  // Deadlines are the whole time, and the steps in which uploads are looked at.
  const isDeadline = (ms: number): boolean => ms === requestMs || ms === requestMs / 10;
  const clock: Clock = {
    now: () => systemClock.now(),
    monotonic: () => time.monotonic(),
    after: (ms, callback) => (isDeadline(ms) ? time : systemClock).after(ms, callback),
  };
  return { clock, time };
}

/** Makes a clock that tells rate limits no time but `move`'s: nothing is refilled, however long the requests take. */
export function limiterClock(): { readonly clock: Clock; readonly move: (ms: number) => void } {
  let at = 0;
  return { clock: { ...systemClock, monotonic: () => at }, move: (ms) => void (at += ms) };
}
