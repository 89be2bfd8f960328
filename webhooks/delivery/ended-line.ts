/** The one line that is logged of a delivery that has ended: ids, numbers and words, never a header, a body or an address. */
import type { AttemptResult, DeliveryState } from '../../store/webhooks/types.ts';
import { deliveryIdText, eventIdOf } from '../events/envelope.ts';
import type { Attempted } from './deliverer.ts';

/** @param end.now milliseconds since the Unix epoch */
export function endedLine(
  { delivery, endpoint, outcome, result }: Attempted & { readonly result: AttemptResult },
  { state, attempts, now }: { readonly state: DeliveryState; readonly attempts: number; readonly now: number },
): Readonly<Record<string, unknown>> {
  return {
    delivery: deliveryIdText(delivery.id),
    event: eventIdOf(delivery.eventId),
    name: delivery.eventName,
    org: delivery.org,
    [endpoint.kind === 'Agent' ? 'agent' : 'subscription']: endpoint.name,
    state,
    attempts,
    ...(result.reason === 'ok' ? {} : { reason: result.reason }),
    ...(outcome.statusCode === undefined ? {} : { status: outcome.statusCode }),
    duration_ms: outcome.durationMs,
    age_ms: now - timeOfEvent(delivery.eventId),
  };
}

/** Milliseconds since the Unix epoch: the first 48 bits of an event's id. */
export const timeOfEvent = (eventId: string): number => Number.parseInt(eventId.slice(0, 8) + eventId.slice(9, 13), 16);
