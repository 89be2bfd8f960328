/** When a delivery is tried again. Pure: the same outcome, time and random number always lead to the same decision. */
import type { AttemptOutcome } from '../attempt/outcome.ts';

export interface RetryPolicy {
  readonly strategy: 'FixedDelay' | 'ExponentialBackoff' | 'None';
  /** Attempts after the first one, 0 to 10. */
  readonly maxRetries: number;
  /** The wait of FixedDelay, the longest one of ExponentialBackoff, in milliseconds. */
  readonly maxDelayMs: number;
}

/** What a subscription has that says nothing else, and what the implicit endpoint of an agent has. */
export const defaultRetryPolicy: RetryPolicy = { strategy: 'FixedDelay', maxRetries: 3, maxDelayMs: 10_000 };

export type NextStep =
  /** Taken. */
  | { readonly next: 'succeeded' }
  /** Given up: the policy allows no further attempt. */
  | { readonly next: 'failed' }
  /** The endpoint is gone (410): given up, and the subscription is switched off. */
  | { readonly next: 'disable' }
  /** Another attempt of this series. */
  | { readonly next: 'retry'; readonly delayMs: number }
  /** Nothing came of it through no fault of the endpoint: no attempt is counted or recorded, and the same one is made later. */
  | { readonly next: 'postpone'; readonly delayMs: number };

/** How long a delivery waits that could not be tried through a fault of this installation, in milliseconds. */
const postponeMs = 5_000;

/** First wait of ExponentialBackoff, in milliseconds; it doubles with every retry. */
const firstBackoffMs = 1_000;

/**
 * @param options.attemptInSeries the attempt that just ended, from 1 on; redelivering begins a new series
 * @param options.random in [0, 1)
 */
export function decideNext(options: {
  readonly policy: RetryPolicy;
  readonly attemptInSeries: number;
  readonly outcome: AttemptOutcome;
  readonly random: () => number;
}): NextStep {
  const { policy, attemptInSeries, outcome, random } = options;
  if (outcome.succeeded) return { next: 'succeeded' };
  if (outcome.ours) return { next: 'postpone', delayMs: postponeMs };
  if (outcome.reason === 'gone') return { next: 'disable' };
  if (policy.strategy === 'None' || attemptInSeries > policy.maxRetries) return { next: 'failed' };
  const delayMs = Math.max(ownDelay(policy, attemptInSeries, random()), outcome.retryAfterMs ?? 0);
  return { next: 'retry', delayMs };
}

/** Jitter only shortens: the configured wait is the longest one. */
function ownDelay({ strategy, maxDelayMs }: RetryPolicy, retry: number, random: number): number {
  if (strategy === 'FixedDelay') return Math.round(maxDelayMs * (1 - 0.1 * random));
  // Capped before the jitter: at the cap, too, those who failed together come back apart.
  return Math.round(Math.min(firstBackoffMs * 2 ** (retry - 1), maxDelayMs) * (1 - 0.5 * random));
}
