/** What follows from an attempt; pure. */
import type { AttemptResult, ClaimedDelivery, NextStep } from '../../store/webhooks/types.ts';
import type { FailedAttempt, SuccessfulAttempt } from './outcome.ts';
import { disablingOf, GONE } from '../endpoint-health/auto-disable.ts';
import { decideNext } from './retry-policy.ts';
import type { Endpoint } from '../subscriptions/endpoint.ts';

/** Shorter waits than this stay with the dispatcher, in milliseconds: a workflow's timer may be late by as much. */
export const SHORT_RETRY_MS = 1_000;

export interface AttemptResultOptions {
  /** Retries of a parked endpoint wait in Postgres until it is no longer parked. */
  readonly parked: boolean;
  readonly now: number;
  readonly random: () => number;
}

export function attemptResult(
  { delivery, endpoint, outcome }: { delivery: ClaimedDelivery; endpoint: Endpoint; outcome: SuccessfulAttempt | FailedAttempt },
  { parked, now, random }: AttemptResultOptions,
): AttemptResult {
  const { id, org, subscriptionUid, attempts, seriesStart } = delivery;
  const attemptInSeries = attempts - seriesStart + 1;
  const decision = decideNext({ policy: endpoint.retry, attemptInSeries, outcome, random });
  const next: NextStep =
    decision.next === 'succeeded'
      ? { state: 'succeeded' }
      : decision.next === 'retry'
        ? { state: parked || decision.delayMs < SHORT_RETRY_MS ? 'pending' : 'retry_pending', delayMs: decision.delayMs }
        : { state: 'failed' };
  return {
    deliveryId: id,
    org,
    subscriptionUid,
    seriesStart,
    startedAt: outcome.startedAt,
    durationMs: outcome.durationMs,
    succeeded: outcome.succeeded,
    reason: outcome.succeeded ? 'ok' : outcome.reason,
    statusCode: outcome.statusCode,
    ...(outcome.succeeded ? {} : { message: outcome.message }),
    next,
    ...(decision.next === 'disable' ? { disable: disablingOf(endpoint, GONE, now) } : {}),
  };
}
