/**
 * Keeps an endpoint that does nothing but fail from being called all the time.
 *
 * While it is open, deliveries stay where they are: parked rows, which cost nothing. One of them is tried now and then, and
 * once one gets through the others follow in growing numbers, so that a server that has just come back isn't knocked over
 * by everything that waited for it.
 */
import { backoffDelay } from '../../platform/backoff.ts';

/** A circuit breaker as it is stored, one for each endpoint. Times are milliseconds since the Unix epoch. */
export type Breaker =
  | { readonly state: 'closed' }
  | {
      readonly state: 'open';
      /** No delivery is tried before this time. */
      readonly probeAt: number;
      /** How often the breaker has opened or been probed in vain since it was last closed. */
      readonly opened: number;
    }
  | {
      readonly state: 'half_open';
      readonly opened: number;
      /** Most deliveries that may be on their way at once. */
      readonly ramp: number;
      /** Successes that are still missing before there may be more. */
      readonly rampLeft: number;
    };

/** The results of the attempts of the last {@link WINDOW_MS}. */
export interface AttemptWindow {
  readonly attempts: number;
  readonly failures: number;
  /** Different events among the failures. */
  readonly events: number;
}

export const WINDOW_MS = 60_000;
const LEAST_ATTEMPTS = 20;
const LEAST_EVENTS = 5;
const FAILING_SHARE = 0.9;
const PROBE = { baseMs: 5_000, maxMs: 300_000, jitter: 0 } as const;
/** A stage this wide has shown that the endpoint bears what any other gets. */
const LAST_RAMP = 8;

export const closed: Breaker = { state: 'closed' };

export function afterAttempts(
  breaker: Breaker,
  attempts: { readonly succeeded: number; readonly failed: number; readonly window?: AttemptWindow | undefined },
  now: number,
): Breaker {
  const { succeeded, failed, window } = attempts;
  if (breaker.state === 'closed') return failed > 0 && window !== undefined && isFailing(window) ? open(1, now) : breaker;
  if (breaker.state === 'half_open') return failed > 0 ? open(breaker.opened + 1, now) : climb(breaker, succeeded);
  // A probe has been counted as failed when it was taken.
  return succeeded > 0 ? { state: 'half_open', opened: breaker.opened, ramp: 2, rampLeft: 2 } : breaker;
}

/** Whether an attempt that began when the breaker had opened `opened` times still counts: attempts from before have been decided on already. */
export function concerns(breaker: Breaker, opened: number): boolean {
  return breaker.state === 'closed' || breaker.opened === opened;
}

/**
 * Returns the breaker when one delivery is about to be tried. That counts as having failed from now on, so that a process that dies with it
 * leaves nothing to put right; the next one is not tried while this one can last.
 */
export function probeTaken(breaker: Breaker & { readonly state: 'open' }, { now, leaseMs }: { now: number; leaseMs: number }): Breaker {
  const opened = breaker.opened + 1;
  return { state: 'open', opened, probeAt: now + Math.max(backoffDelay(opened, PROBE), leaseMs) };
}

export function probeDue(breaker: Breaker, now: number): boolean {
  return breaker.state === 'open' && breaker.probeAt <= now;
}

/** Returns how many deliveries may be on their way at once, of `limit` that any endpoint may have. */
export function admitted(breaker: Breaker, limit: number): number {
  if (breaker.state === 'closed') return limit;
  return breaker.state === 'open' ? 0 : Math.min(limit, breaker.ramp);
}

export function isFailing({ attempts, failures, events }: AttemptWindow): boolean {
  return attempts >= LEAST_ATTEMPTS && failures >= FAILING_SHARE * attempts && events >= LEAST_EVENTS;
}

const open = (opened: number, now: number): Breaker => ({ state: 'open', opened, probeAt: now + backoffDelay(opened, PROBE) });

function climb(from: Breaker & { readonly state: 'half_open' }, succeeded: number): Breaker {
  let { ramp } = from;
  let left = from.rampLeft - succeeded;
  while (left <= 0) {
    if (ramp >= LAST_RAMP) return closed;
    ramp *= 2;
    left += ramp;
  }
  return { state: 'half_open', opened: from.opened, ramp, rampLeft: left };
}
