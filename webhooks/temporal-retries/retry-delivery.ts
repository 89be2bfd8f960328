/**
 * The retries of one delivery: what a workflow's activity does each time it is woken. The row in Postgres decides about everything, so
 * that it does no harm to be woken twice, too early, too late, or after another process has settled the matter.
 */
import { sleep, type Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import { StoreError, type ClaimedDelivery, type DeliveryState, type DispatchStore, type RecordResult } from '../../store/index.ts';
import type { Attempt } from '../attempt/attempt.ts';
import { attemptDelivery } from '../attempt/traced-attempt.ts';
import type { EndpointHealthCache } from '../endpoint-health/endpoint-health-cache.ts';
import type { JudgedAttempt } from '../endpoint-health/park-failing-endpoints.ts';
import { logAttempt, timeOfEvent } from '../attempt/log-attempt.ts';
import { attemptResult } from '../attempt/attempt-result.ts';
import type { OutcomeMetrics } from '../metrics.ts';
import type { RecordAttempts } from '../attempt/record-attempts.ts';
import { DeliverySecretError, type Credentials } from '../subscriptions/credentials.ts';
import type { EndpointDirectory } from '../subscriptions/directory.ts';
import type { Endpoint } from '../subscriptions/endpoint.ts';
import { TIMER_LEAD_MS, type DeliveryJob } from './names.ts';
import type { EndpointLimits } from './endpoint-limits.ts';

export interface RetryDependencies {
  readonly store: Pick<DispatchStore, 'claimOne' | 'release' | 'settle'>;
  readonly directory: Pick<EndpointDirectory, 'byUid' | 'credentials'>;
  readonly health: Pick<EndpointHealthCache, 'get' | 'gate' | 'opened'>;
  readonly attempt: Attempt;
  readonly record: RecordAttempts;
  readonly limits: EndpointLimits;
  readonly metrics: OutcomeMetrics;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
}

/** `done`: there is nothing (more) for a workflow to do. `gone`: the delivery is no longer kept. */
export type RetryOutcome = { readonly done: DeliveryState | 'gone' } | { readonly againInMs: number };

/** A claim lasts longer than the attempt by this, in milliseconds. */
const LEASE_MARGIN_MS = 5_000;
/** What the attempt of an unknown endpoint may take. */
const LONGEST_TIMEOUT_MS = 30_000;
/** What can't be attempted for want of something on our side is looked at again after this, in milliseconds. */
const POSTPONE_MS = 5_000;
/** How long it is tried to write an attempt down, in milliseconds, and how often. */
const RECORD_FOR_MS = 60_000;
const RECORD_AGAIN_MS = 500;
/** Not even a delivery that another process holds at this very moment is asked for more often, in milliseconds. */
const SOON_MS = 10;
/** How long a place for one more attempt at an endpoint is waited for, and when it is asked for again, in milliseconds. */
const PLACE_WAIT_MS = 250;
const NO_PLACE_MS = 2_000;
/** A retry due within this time, in milliseconds, is awaited here: Temporal's timers are not that exact. */
const WAITED_FOR_MS = 2 * TIMER_LEAD_MS;

export async function retryDelivery(job: DeliveryJob, dependencies: RetryDependencies, signal: AbortSignal): Promise<RetryOutcome> {
  const { directory, limits, clock, random } = dependencies;
  const { subscriptionUid: uid } = job;
  for (;;) {
    const release = await limits.acquire({ uid, org: directory.byUid(uid)?.org ?? uid }, PLACE_WAIT_MS);
    if (release === undefined) return { againInMs: NO_PLACE_MS * (1 + random()) };
    const outcome = await attend(job, dependencies).finally(release);
    if ('done' in outcome || outcome.againInMs > WAITED_FOR_MS) return outcome;
    await sleep(clock, outcome.againInMs, signal);
  }
}

/** Makes the attempt if it is due. */
async function attend(job: DeliveryJob, dependencies: RetryDependencies): Promise<RetryOutcome> {
  const { store, directory } = dependencies;
  const endpoint = directory.byUid(job.subscriptionUid);
  const found = await store.claimOne(job.deliveryId, (endpoint?.timeoutMs ?? LONGEST_TIMEOUT_MS) + LEASE_MARGIN_MS);
  if (found === undefined) return { done: 'gone' };
  // Its subscription may have another uid than when its workflow began.
  if (!('state' in found)) return deliver(found, directory.byUid(found.subscriptionUid), dependencies);
  if (found.state !== 'retry_pending' && found.state !== 'retrying') return { done: found.state };
  // Woken early, or another process has it: perhaps a worker that died with it.
  return { againInMs: Math.max(found.dueInMs, SOON_MS) };
}

/** Makes the attempt, or does what else is right for a delivery that this process has claimed. */
async function deliver(delivery: ClaimedDelivery, endpoint: Endpoint | undefined, dependencies: RetryDependencies): Promise<RetryOutcome> {
  const { store, directory, health, attempt, metrics, clock, random, logger } = dependencies;
  const { id, subscriptionUid } = delivery;
  const postpone = async (): Promise<RetryOutcome> => {
    await store.release([id], POSTPONE_MS);
    return { againInMs: POSTPONE_MS };
  };
  // New to this process, or deleted: the dispatcher's sweeper ends the delivery then.
  if (endpoint === undefined) return postpone();
  const gate = health.gate(endpoint);
  if (gate === 'paused') {
    await store.settle([id], { state: 'paused' });
    return { done: 'paused' };
  }
  if (gate === 'disabled') {
    await store.settle([id], { state: 'skipped' }, 'disabled');
    return { done: 'skipped' };
  }
  if (gate === 'parked' || (health.get(subscriptionUid)?.breaker ?? 'closed') !== 'closed') {
    // The dispatcher lets it go on, in its turn, when the endpoint comes back.
    await store.settle([id], { state: 'pending', delayMs: 0 });
    return { done: 'pending' };
  }
  let credentials: Credentials;
  try {
    credentials = await directory.credentials(endpoint);
  } catch (error) {
    if (!(error instanceof DeliverySecretError)) throw error;
    return postpone();
  }
  const opened = health.opened(subscriptionUid);
  const { outcome, span } = await attemptDelivery(attempt, { delivery, endpoint, credentials });
  if (!outcome.succeeded && outcome.ours) return postpone();
  metrics.attempted(outcome.succeeded ? 'ok' : outcome.reason);
  if (outcome.succeeded) metrics.received((outcome.startedAt + outcome.durationMs - timeOfEvent(delivery.eventId)) / 1000);
  const judged = attemptResult({ delivery, endpoint, outcome, opened }, { parked: false, now: clock.now(), random });
  const delayMs = 'delayMs' in judged.next ? judged.next.delayMs : undefined;
  // However short the wait: this workflow has it.
  const result: JudgedAttempt = delayMs === undefined ? judged : { ...judged, next: { state: 'retrying', delayMs } };
  const recorded = (await recordForSure(result, dependencies)).attempts[0];
  logAttempt(
    logger,
    { delivery, endpoint, outcome, opened, result, span },
    { state: recorded?.state, attempt: recorded?.number ?? delivery.attempts + 1, now: clock.now() },
  );
  if (recorded?.state === undefined) return { done: 'gone' };
  const { state } = recorded;
  // Another process may have changed it: a redelivery, or a pause.
  if (state === 'retrying' && delayMs !== undefined) return { againInMs: delayMs };
  if (state === 'succeeded' || state === 'failed' || state === 'skipped') metrics.finished(state);
  return { done: state };
}

/** What has been sent counts, even if Postgres is unavailable for a moment. It may be written down twice, and counts once. */
async function recordForSure(result: JudgedAttempt, { record, clock }: RetryDependencies): Promise<RecordResult> {
  const until = clock.monotonic() + RECORD_FOR_MS;
  for (;;) {
    try {
      return await record([result]);
    } catch (error) {
      if (!(error instanceof StoreError) || !error.retryable || clock.monotonic() > until) throw error;
      await sleep(clock, RECORD_AGAIN_MS);
    }
  }
}
