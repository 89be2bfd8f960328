/** Decides which endpoints get which event; pure. */
import type { OutboxEvent, PlannedDelivery, RelayDecision } from '../../store/webhooks/types.ts';
import type { EndpointGate } from '../endpoint-health/endpoint-health-cache.ts';
import type { EndpointDirectory, Watermark } from '../subscriptions/directory.ts';
import type { Endpoint } from '../subscriptions/endpoint.ts';
import { present } from '../../platform/present.ts';

export interface DecideOptions {
  readonly directory: Pick<EndpointDirectory, 'matching' | 'behind'>;
  readonly gate: (endpoint: Endpoint) => EndpointGate;
  /** Reserves a place for a delivery, past the breaker where `pastBreaker`. @returns the lease in milliseconds; undefined without room */
  readonly reserve: (endpoint: Endpoint, pastBreaker: boolean) => number | undefined;
  /** Returns how long an event waits whose organisation's subscriptions aren't all known here yet, in milliseconds. */
  readonly behindDelayMs: (org: string) => number;
}

/** A subscription was written that the watch has not shown here yet. */
export interface Behind {
  readonly org: string;
  readonly watermark: Watermark;
}

export interface DeliveryPlan extends RelayDecision {
  readonly deliveries: readonly PlannedDelivery[];
  readonly postponed: readonly { readonly eventId: string; readonly delayMs: number }[];
  /** Organisations whose events were put back. */
  readonly behind: readonly Behind[];
  /** Endpoints that got a delivery for which there was no room. */
  readonly left: ReadonlySet<string>;
}

/**
 * An organisation about whose subscriptions something may be missing here keeps its events in the outbox; those of the others go on.
 * Events that match no endpoint are done.
 */
export function decide(events: readonly OutboxEvent[], options: DecideOptions): DeliveryPlan {
  const { directory, gate, reserve, behindDelayMs } = options;
  const deliveries: PlannedDelivery[] = [];
  const postponed: { eventId: string; delayMs: number }[] = [];
  const behind = new Map<string, Behind | undefined>();
  const left = new Set<string>();
  for (const event of events) {
    if (!behind.has(event.org)) behind.set(event.org, behindOf(event, directory));
    if (behind.get(event.org) !== undefined) {
      postponed.push({ eventId: event.id, delayMs: behindDelayMs(event.org) });
      continue;
    }
    for (const endpoint of directory.matching(eventToMatch(event))) {
      const at = gate(endpoint);
      if (at === 'paused' || at === 'disabled') {
        deliveries.push({ event, subscriptionUid: endpoint.uid, state: 'skipped', reason: at });
        continue;
      }
      const test = isTest(event);
      const leaseMs = at === 'open' || test ? reserve(endpoint, test) : undefined;
      if (leaseMs === undefined) left.add(endpoint.uid);
      deliveries.push({ event, subscriptionUid: endpoint.uid, state: 'pending', leaseMs });
    }
  }
  return { deliveries, postponed, behind: [...behind.values()].filter((one) => one !== undefined), left };
}

/** Lists the uids of endpoints that get nothing because they are switched off. */
export function disabledOf({ deliveries }: DeliveryPlan): readonly string[] {
  return [...new Set(deliveries.filter(({ reason }) => reason === 'disabled').map(({ subscriptionUid }) => subscriptionUid))];
}

/** A test has to show now whether the endpoint works: neither an open circuit breaker nor a backlog holds it up. */
export const isTest = ({ name, onlySubscription }: Pick<OutboxEvent, 'name' | 'onlySubscription'>): boolean =>
  name === 'Webhook.Test' && onlySubscription !== undefined;

function behindOf({ org, watermark }: OutboxEvent, directory: Pick<EndpointDirectory, 'behind'>): Behind | undefined {
  if (watermark === undefined) return undefined;
  const { subscriptions, secrets } = watermark;
  const mark: Watermark = present({ subscriptions, secrets });
  return directory.behind(org, mark) ? { org, watermark: mark } : undefined;
}

function eventToMatch({ org, name, agent, workspace, onlySubscription, exceptSubscription }: OutboxEvent) {
  return present({ org, name, agent, workspace, onlySubscription, exceptSubscription });
}
