/**
 * Makes the retries of one delivery: a workflow's activity does so each time it is woken. The row in Postgres decides about everything, so
 * that it does no harm to be woken twice, too early, too late, or after another process has settled the matter.
 */
import { sleep } from '../../platform/clock.ts';
import { retry } from '../../platform/retry.ts';
import { StoreError, type DeliveryState, type DispatchStore } from '../../store/index.ts';
import type { RecordedAttempt } from '../../store/webhooks/types.ts';
import { deliver, type Claim, type Delivering } from '../attempt/deliver.ts';
import type { RecordAttempts } from '../attempt/record-attempts.ts';
import type { EndpointGate, EndpointHealthCache } from '../endpoint-health/endpoint-health-cache.ts';
import type { JudgedAttempt } from '../endpoint-health/park-failing-endpoints.ts';
import type { Endpoint } from '../subscriptions/endpoint.ts';
import type { EndpointLimits } from './endpoint-limits.ts';
import { TIMER_LEAD_MS, type DeliveryJob } from './names.ts';

export interface RetryDependencies extends Omit<Delivering, 'record'> {
  readonly store: Pick<DispatchStore, 'claimOne' | 'release' | 'settle'>;
  readonly health: Pick<EndpointHealthCache, 'get' | 'gate' | 'opened'>;
  readonly recordAttempts: RecordAttempts;
  readonly limits: EndpointLimits;
}

/** `done`: there is nothing (more) for a workflow to do. `gone`: the delivery is no longer kept. */
export type RetryOutcome = { readonly done: DeliveryState | 'gone' } | { readonly againInMs: number };

/** A claim lasts longer than the attempt by this, in milliseconds. */
const LEASE_MARGIN_MS = 5_000;
/** Longest timeout that an unknown endpoint may have, in milliseconds. */
const LONGEST_TIMEOUT_MS = 30_000;
/** A delivery that can't be attempted for want of something on our side is looked at again after this, in milliseconds. */
const POSTPONE_MS = 5_000;
/** How long it is tried to record an attempt, and how often, in milliseconds. */
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
  const { store, directory, clock } = dependencies;
  const leaseMs = (directory.byUid(job.subscriptionUid)?.timeoutMs ?? LONGEST_TIMEOUT_MS) + LEASE_MARGIN_MS;
  const leaseEndsAt = clock.monotonic() + leaseMs;
  const found = await store.claimOne(job.deliveryId, leaseMs);
  if (found === undefined) return { done: 'gone' };
  if (!('state' in found)) return tryAgain({ delivery: found, leaseEndsAt }, dependencies);
  if (found.state !== 'retry_pending' && found.state !== 'retrying') return { done: found.state };
  // The workflow was woken early, or another process has the delivery: perhaps a worker that died with it.
  return { againInMs: Math.max(found.dueInMs, SOON_MS) };
}

/** Makes the attempt, or does what else is right for a delivery that this process has claimed. */
async function tryAgain(claim: Pick<Claim, 'delivery' | 'leaseEndsAt'>, dependencies: RetryDependencies): Promise<RetryOutcome> {
  const { store, health } = dependencies;
  const { id } = claim.delivery;
  // The dispatcher lets it go on, in its turn, while the endpoint comes back.
  const gate = (endpoint: Endpoint): EndpointGate => {
    const opening = health.gate(endpoint);
    return opening === 'open' && (health.get(endpoint.uid)?.breaker ?? 'closed') !== 'closed' ? 'parked' : opening;
  };
  const record = (result: JudgedAttempt): Promise<RecordedAttempt | undefined> => recordForSure(result, dependencies);
  const end = await deliver({ ...claim, gate, keepsRetries: true }, { ...dependencies, record });
  switch (end) {
    case 'paused':
      await store.settle([id], { state: 'paused' });
      return { done: 'paused' };
    case 'disabled':
      await store.settle([id], { state: 'skipped' }, 'disabled');
      return { done: 'skipped' };
    case 'parked':
      await store.settle([id], { state: 'pending', delayMs: 0 });
      return { done: 'pending' };
    // The endpoint is new to this process, or deleted: the dispatcher's sweeper ends the delivery then.
    case 'unknown_endpoint':
    case 'credentials':
    case 'late':
    case 'local':
      await store.release([id], POSTPONE_MS);
      return { againInMs: POSTPONE_MS };
  }
  const state = await end.recorded;
  // Another process may have changed it: a redelivery, or a pause.
  if (state === 'retrying' && 'delayMs' in end.result.next) return { againInMs: end.result.next.delayMs };
  return { done: state ?? 'gone' };
}

/** Records what has been sent, even if Postgres is unavailable for a moment. It may be written down twice, and counts once. */
async function recordForSure(result: JudgedAttempt, { recordAttempts, clock }: RetryDependencies): Promise<RecordedAttempt | undefined> {
  const until = clock.monotonic() + RECORD_FOR_MS;
  const delayMs = (error: unknown): number | undefined =>
    error instanceof StoreError && error.retryable && clock.monotonic() <= until ? RECORD_AGAIN_MS : undefined;
  return (await retry(() => recordAttempts([result]), { delayMs, clock })).attempts[0];
}
