/**
 * One attempt at a delivery that this process has claimed, from the gate of its endpoint to its record, log line and metrics. The dispatcher's
 * first attempts and the retries that Temporal wakes are this one; they differ in what they do before and afterwards.
 */
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import type { ClaimedDelivery, DeliveryState, RecordedAttempt } from '../../store/webhooks/types.ts';
import type { EndpointGate, EndpointHealthCache } from '../endpoint-health/endpoint-health-cache.ts';
import type { JudgedAttempt } from '../endpoint-health/park-failing-endpoints.ts';
import type { OutcomeMetrics } from '../metrics.ts';
import { DeliverySecretError, type Credentials } from '../subscriptions/credentials.ts';
import type { EndpointDirectory } from '../subscriptions/directory.ts';
import type { Endpoint } from '../subscriptions/endpoint.ts';
import { attemptResult } from './attempt-result.ts';
import type { Attempt } from './attempt.ts';
import { logAttempt, timeOfEvent, type Attempted } from './log-attempt.ts';
import { attemptDelivery } from './traced-attempt.ts';

/** Reasons why nothing was sent, or nothing that counts. */
export type Obstacle =
  /** This process does not know its endpoint (yet). */
  | 'unknown_endpoint'
  /** Its endpoint is switched off, has switched itself off, or is parked. */
  | Exclude<EndpointGate, 'open'>
  /** A Secret cannot be read. */
  | 'credentials'
  /** It waited so long for its turn that another process may be about to claim it. */
  | 'late'
  /** A fault of this installation: DNS, its own network. */
  | 'local';

export interface Claim {
  readonly delivery: ClaimedDelivery;
  /** End of the lease, on the monotonic clock. */
  readonly leaseEndsAt: number;
  readonly gate: (endpoint: Endpoint) => EndpointGate;
  /** Whoever has the claim makes its retries as well, however soon they are due. */
  readonly keepsRetries: boolean;
}

export interface Delivering {
  readonly directory: Pick<EndpointDirectory, 'byUid' | 'credentials'>;
  readonly health: Pick<EndpointHealthCache, 'gate' | 'opened'>;
  readonly attempt: Attempt;
  /** @returns undefined for an attempt that can't be recorded, which will be made again */
  readonly record: (result: JudgedAttempt) => Promise<RecordedAttempt | undefined>;
  readonly metrics: OutcomeMetrics;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
}

export interface Delivered extends Attempted {
  readonly result: JudgedAttempt;
  /** Resolves once the attempt is recorded, with what became of the delivery: undefined where it is kept no longer. Rejects as `record` does. */
  readonly recorded: Promise<DeliveryState | undefined>;
}

/** How much of the lease has to be left when the attempt begins, besides the endpoint's timeout, in milliseconds. */
const LEAST_SLACK_MS = 1_000;

export async function deliver({ delivery, leaseEndsAt, gate, keepsRetries }: Claim, delivering: Delivering): Promise<Delivered | Obstacle> {
  const { directory, health, attempt, metrics, clock, random } = delivering;
  const endpoint = directory.byUid(delivery.subscriptionUid);
  if (endpoint === undefined) return 'unknown_endpoint';
  const opening = gate(endpoint);
  if (opening !== 'open') return opening;
  let credentials: Credentials;
  try {
    credentials = await directory.credentials(endpoint);
  } catch (error) {
    if (error instanceof DeliverySecretError) return 'credentials';
    throw error;
  }
  if (leaseEndsAt - clock.monotonic() < endpoint.timeoutMs + LEAST_SLACK_MS) return 'late';
  const opened = health.opened(endpoint.uid);
  const { outcome, span } = await attemptDelivery(attempt, { delivery, endpoint, credentials });
  if (!outcome.succeeded && outcome.ours) return 'local';
  metrics.attempted(outcome.succeeded ? 'ok' : outcome.reason);
  if (outcome.succeeded) metrics.received((outcome.startedAt + outcome.durationMs - timeOfEvent(delivery.eventId)) / 1000);
  const attempted = { delivery, endpoint, outcome, opened, span };
  const parked = health.gate(endpoint) === 'parked';
  const result = attemptResult(attempted, { parked, keepsRetries, now: clock.now(), random });
  return { ...attempted, result, recorded: recorded({ ...attempted, result }, delivering) };
}

async function recorded(
  ended: Attempted & { readonly result: JudgedAttempt },
  { record, metrics, clock, logger }: Delivering,
): Promise<DeliveryState | undefined> {
  const row = await record(ended.result);
  if (row === undefined) return undefined;
  const { state, number } = row;
  logAttempt(logger, ended, { state, attempt: number === 0 ? ended.delivery.attempts + 1 : number, now: clock.now() });
  if (state === 'succeeded' || state === 'failed' || state === 'skipped') metrics.finished(state);
  return state;
}
