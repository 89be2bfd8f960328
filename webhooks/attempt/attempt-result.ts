/** Decides what follows from an attempt; pure. */
import type { NextStep } from '../../store/webhooks/types.ts';
import { disablingOf, GONE } from '../endpoint-health/auto-disable.ts';
import type { JudgedAttempt } from '../endpoint-health/park-failing-endpoints.ts';
import type { Attempted } from './log-attempt.ts';
import { decideNext } from './retry-policy.ts';

/** Shorter waits than this stay with the dispatcher, in milliseconds: a workflow's timer may be late by as much. */
export const SHORT_RETRY_MS = 1_000;

export interface AttemptResultOptions {
  /** Retries of a parked endpoint wait in Postgres until it is no longer parked. */
  readonly parked: boolean;
  /** Whoever made the attempt makes the retry, however soon it is due and whatever becomes of the endpoint meanwhile. */
  readonly keepsRetries: boolean;
  readonly now: number;
  readonly random: () => number;
}

export function attemptResult(
  { delivery, endpoint, outcome, opened }: Attempted,
  { parked, keepsRetries, now, random }: AttemptResultOptions,
): JudgedAttempt {
  const { id, org, subscriptionUid, attempts, seriesStart } = delivery;
  const attemptInSeries = attempts - seriesStart + 1;
  const decision = decideNext({ policy: endpoint.retry, attemptInSeries, outcome, random });
  const next: NextStep =
    decision.next === 'succeeded'
      ? { state: 'succeeded' }
      : decision.next === 'retry'
        ? {
            state: keepsRetries ? 'retrying' : parked || decision.delayMs < SHORT_RETRY_MS ? 'pending' : 'retry_pending',
            delayMs: decision.delayMs,
          }
        : { state: 'failed' };
  return {
    deliveryId: id,
    org,
    subscriptionUid,
    opened,
    seriesStart,
    startedAt: outcome.startedAt,
    durationMs: outcome.durationMs,
    succeeded: outcome.succeeded,
    reason: outcome.succeeded ? 'ok' : outcome.reason,
    statusCode: outcome.statusCode,
    ...(outcome.message !== undefined && { message: outcome.message }),
    next,
    ...(decision.next === 'disable' ? { disable: disablingOf(endpoint, GONE, now) } : {}),
  };
}
