/** Decides when an endpoint is switched off: after days of nothing but failures, and not because of one bad night. */
import { buildEvent } from '../../events/emit.ts';
import { timestamp } from '../../kube/index.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import { DAY_MS } from '../../platform/time.ts';
import type { Disabling, DispatchStore, EndpointRecord } from '../../store/index.ts';
import type { EndpointDirectory } from '../subscriptions/directory.ts';
import type { Endpoint } from '../subscriptions/endpoint.ts';

/** How long nothing may have succeeded, in milliseconds: five days. */
export const GIVE_UP_AFTER_MS = 5 * DAY_MS;

/** Failures have to lie in so many different spans of 12 hours: a few attempts on one day prove nothing. */
export const GIVE_UP_SLOTS = 3;

/**
 * Call it right after a failure: time without attempts says nothing about the endpoint.
 *
 * @param now milliseconds since the epoch
 * @returns why it is given up, for its owner; undefined while it isn't, or when it has been already
 */
export function reasonToGiveUp(
  { disabledAt, failingSince, failureSlots }: Pick<EndpointRecord, 'disabledAt' | 'failingSince' | 'failureSlots'>,
  now: number,
): string | undefined {
  if (disabledAt !== undefined || failingSince === undefined || failureSlots < GIVE_UP_SLOTS) return undefined;
  const failingMs = now - failingSince.getTime();
  if (failingMs < GIVE_UP_AFTER_MS) return undefined;
  const days = Math.floor(failingMs / DAY_MS);
  return `nothing but failures in ${days} days, since ${timestamp(failingSince)}`;
}

export interface AutoDisableOptions {
  readonly store: Pick<DispatchStore, 'disable' | 'endpoints'>;
  readonly directory: Pick<EndpointDirectory, 'byUid'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Switches off the endpoints among those that have just failed that have done nothing else for days.
 *
 * @returns their current health; call it again with the next failure when it throws
 * @throws StoreError
 */
export async function disableFailingEndpoints(
  records: readonly EndpointRecord[],
  { store, directory, clock, logger }: AutoDisableOptions,
): Promise<readonly EndpointRecord[]> {
  const disabled: string[] = [];
  for (const record of records) {
    const now = clock.now();
    const reason = record.consecutiveFailures > 0 ? reasonToGiveUp(record, now) : undefined;
    const endpoint = reason === undefined ? undefined : directory.byUid(record.subscriptionUid);
    if (reason === undefined || endpoint === undefined) continue;
    const { org, uid, name, kind } = endpoint;
    if (!(await store.disable({ org, subscriptionUid: uid, ...disablingOf(endpoint, reason, now) }))) continue;
    logger.info({ org, [kind === 'Agent' ? 'agent' : 'subscription']: name, reason }, 'an endpoint was switched off');
    disabled.push(uid);
  }
  return disabled.length === 0 ? [] : store.endpoints({ uids: disabled });
}

/** The reason that the owner of an endpoint reads after a 410. */
export const GONE = 'the endpoint answered 410 Gone';

/** Longest reason, in characters. */
const REASON_LIMIT = 256;

/**
 * Returns how an endpoint is switched off: with an event for the organisation's other subscriptions, in the same transaction. The address of an
 * agent is no subscription, and has no such event.
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
