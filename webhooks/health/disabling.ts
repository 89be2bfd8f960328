import type { Disabling } from '../../store/index.ts';
import { buildEvent } from '../../events/emit.ts';
import type { Endpoint } from '../subscriptions/endpoint.ts';

/** What the owner of an endpoint that answers 410 is told. */
export const GONE = 'the endpoint answered 410 Gone';

/** Longest reason, in characters. */
const REASON_LIMIT = 256;

/**
 * How an endpoint is switched off: in the transaction that does it the organisation's other subscriptions are told. The address of an
 * agent is no subscription; nobody is told of it.
 *
 * @param now milliseconds since the epoch
 */
export function disablingOf(
  endpoint: Pick<Endpoint, 'uid' | 'org' | 'name' | 'kind' | 'generation'>,
  reason: string,
  now: number,
): Disabling {
  const { uid, org, name, kind, generation } = endpoint;
  const short = reason.slice(0, REASON_LIMIT);
  if (kind === 'Agent') return { reason: short, generation };
  const event = buildEvent({
    name: 'Webhook.SubscriptionDisabled',
    org,
    payload: { subscription_id: name, reason: short },
    exceptSubscription: uid,
    now,
  });
  return { reason: short, generation, event };
}
