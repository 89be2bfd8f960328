/** The one line that is logged of an attempt: ids, numbers, words and the host, never a header, a body or what follows the host in an address. */
import type { Logger } from '../../platform/logging.ts';
import type { AttemptResult, DeliveryState } from '../../store/webhooks/types.ts';
import { deliveryIdText, eventIdOf } from '../../events/envelope.ts';
import type { SpanReference } from '../../platform/telemetry/trace-context.ts';
import type { ClaimedDelivery } from '../../store/webhooks/types.ts';
import type { JudgedAttempt } from '../endpoint-health/park-failing-endpoints.ts';
import type { Endpoint } from '../subscriptions/endpoint.ts';
import type { FailedAttempt, SuccessfulAttempt } from './outcome.ts';

export interface Attempted {
  readonly delivery: ClaimedDelivery;
  readonly endpoint: Endpoint;
  readonly outcome: SuccessfulAttempt | FailedAttempt;
  readonly opened: JudgedAttempt['opened'];
  /** Undefined where nothing is traced. */
  readonly span?: SpanReference | undefined;
}

/** The state of a delivery after an attempt. */
export interface AttemptEnd {
  /** Absent for a delivery that is kept no longer. */
  readonly state: DeliveryState | undefined;
  /** Number of the attempt among all of the delivery. */
  readonly attempt: number;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
}

/** Logs a delivery that was taken as `info`, one to be tried again as `warn`, and one that is given up as `error`. */
export function logAttempt(
  logger: Logger,
  { delivery, endpoint, outcome, result, span }: Attempted & { readonly result: AttemptResult },
  { state, attempt, now }: AttemptEnd,
): void {
  const line = {
    org: delivery.org,
    delivery: deliveryIdText(delivery.id),
    event: eventIdOf(delivery.eventId),
    eventName: delivery.eventName,
    [endpoint.kind === 'Agent' ? 'agent' : 'subscription']: endpoint.name,
    host: URL.parse(endpoint.url)?.host,
    attempt,
    outcome: outcome.succeeded ? 'succeeded' : state === 'failed' ? 'failed' : 'postponed',
    state,
    reason: result.reason === 'ok' ? undefined : result.reason,
    status: outcome.statusCode,
    durationMs: outcome.durationMs,
    ageMs: now - timeOfEvent(delivery.eventId),
    ...(span !== undefined && { traceId: span.traceId, spanId: span.spanId }),
  };
  if (outcome.succeeded) logger.info(line, 'delivery');
  else if (state === 'failed') logger.error(line, 'delivery');
  else logger.warn(line, 'delivery');
}

/** Milliseconds since the Unix epoch: the first 48 bits of an event's id. */
export const timeOfEvent = (eventId: string): number => Number.parseInt(eventId.slice(0, 8) + eventId.slice(9, 13), 16);
