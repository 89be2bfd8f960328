/**
 * Keeps a token bucket as one number: the time at which it will be full again ("generic cell rate algorithm"). Each request moves that time
 * ahead by its cost, at most `burst` requests ahead. The bucket needs no timer, and the requests of several replicas add up by addition.
 */

export interface RateLimit {
  /** Requests a second, for any length of time. */
  readonly perSecond: number;
  /** Requests at once, from a full bucket. */
  readonly burst: number;
}

/** Returns the bucket's time that one request costs, in milliseconds. */
export function costMs({ perSecond }: RateLimit): number {
  return 1000 / perSecond;
}

/** State of a bucket that will be full in `aheadMs` milliseconds. A rest too small to be one request counts as none. */
export interface Standing {
  /** Requests that may be made at once. */
  readonly remaining: number;
  /** Milliseconds until the bucket is full. */
  readonly fullInMs: number;
  /** Milliseconds until one more request may be made; 0 while there is one. */
  readonly nextInMs: number;
}

/** Rounding of sums of fractions must not cost a request. */
const SLACK_MS = 1e-6;

export function standing(limit: RateLimit, aheadMs: number): Standing {
  const cost = costMs(limit);
  const ahead = Math.max(0, aheadMs);
  const room = limit.burst * cost - ahead + SLACK_MS;
  return { remaining: Math.max(0, Math.floor(room / cost)), fullInMs: ahead, nextInMs: room >= cost ? 0 : cost - room };
}
