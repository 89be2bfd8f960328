/** What is written down of an attempt, whoever made it. */
import type { AttemptOutcome } from '../attempt/outcome.ts';
import { disablingOf, GONE } from '../health/disabling.ts';
import type { NextStep } from '../retry/retry-policy.ts';
import type { Endpoint } from '../subscriptions/endpoint.ts';
import type { AttemptResult, ClaimedDelivery } from '../../store/index.ts';

/** Anything but a fault of ours, which is no attempt. */
export type CountedOutcome = Exclude<AttemptOutcome, { readonly ours: true }>;
export type CountedStep = Exclude<NextStep, { readonly next: 'postpone' }>;

export interface EndedAttempt {
  readonly delivery: Pick<ClaimedDelivery, 'id' | 'org' | 'subscriptionUid' | 'seriesStart'>;
  readonly endpoint: Endpoint;
  readonly outcome: CountedOutcome;
  readonly step: CountedStep;
  /** Who makes the next attempt, if there is to be one. */
  readonly retryBy: 'pending' | 'retry_pending' | 'retrying';
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export function attemptResult({ delivery, endpoint, outcome, step, retryBy, now }: EndedAttempt): AttemptResult {
  const { startedAt, durationMs, succeeded, statusCode } = outcome;
  return {
    deliveryId: delivery.id,
    org: delivery.org,
    subscriptionUid: delivery.subscriptionUid,
    seriesStart: delivery.seriesStart,
    startedAt,
    durationMs,
    succeeded,
    reason: outcome.succeeded ? 'ok' : outcome.reason,
    ...(statusCode !== undefined && { statusCode }),
    ...(!outcome.succeeded && { message: outcome.message }),
    next: stepToStore(step, retryBy),
    ...(step.next === 'disable' && { disable: disablingOf(endpoint, GONE, now) }),
  };
}

function stepToStore(step: CountedStep, retryBy: EndedAttempt['retryBy']): AttemptResult['next'] {
  switch (step.next) {
    case 'succeeded':
      return { state: 'succeeded' };
    case 'retry':
      return { state: retryBy, delayMs: step.delayMs };
    case 'failed':
    case 'disable':
      return { state: 'failed' };
  }
}
