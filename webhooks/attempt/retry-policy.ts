/** Decides when a delivery is tried again. Pure: the same outcome, time and random number always lead to the same decision. */
import { backoffDelay } from '../../platform/backoff.ts';
import type { RetryPolicy } from '../subscriptions/endpoint.ts';
import type { AttemptOutcome } from './outcome.ts';

export type RetryDecision =
  /** The endpoint took the delivery. */
  | { readonly next: 'succeeded' }
  /** The delivery is given up: the policy allows no further attempt. */
  | { readonly next: 'failed' }
  /** The endpoint is gone (410): the delivery is given up, and the subscription is switched off. */
  | { readonly next: 'disable' }
  /** Another attempt of this series follows. */
  | { readonly next: 'retry'; readonly delayMs: number }
  /** The attempt failed through no fault of the endpoint: it is neither counted nor recorded, and the same one is made later. */
  | { readonly next: 'postpone'; readonly delayMs: number };

/** How long a delivery waits that could not be tried through a fault of this installation, in milliseconds. */
const POSTPONE_MS = 5_000;

/** First wait of ExponentialBackoff, in milliseconds; it doubles with every retry. */
const FIRST_BACKOFF_MS = 1_000;

/**
 * @param options.attemptInSeries the attempt that just ended, from 1 on; redelivering begins a new series
 * @param options.random in [0, 1)
 */
export function decideNext(options: {
  readonly policy: RetryPolicy;
  readonly attemptInSeries: number;
  readonly outcome: AttemptOutcome;
  readonly random: () => number;
}): RetryDecision {
  const { policy, attemptInSeries, outcome, random } = options;
  if (outcome.succeeded) return { next: 'succeeded' };
  if (outcome.ours) return { next: 'postpone', delayMs: POSTPONE_MS };
  if (outcome.reason === 'gone') return { next: 'disable' };
  if (attemptInSeries > policy.maxRetries) return { next: 'failed' };
  const delayMs = Math.max(ownDelay(policy, attemptInSeries, random), outcome.retryAfterMs ?? 0);
  return { next: 'retry', delayMs };
}

/** Chance only shortens a wait: the configured one is the longest. */
function ownDelay({ strategy, delayMs: maxMs }: RetryPolicy, retry: number, random: () => number): number {
  return Math.round(
    strategy === 'FixedDelay'
      ? backoffDelay(1, { baseMs: maxMs, maxMs, jitter: 0.1, random })
      : backoffDelay(retry, { baseMs: FIRST_BACKOFF_MS, maxMs, random }),
  );
}
