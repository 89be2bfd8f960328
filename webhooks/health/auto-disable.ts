/** When an endpoint is given up: nothing but failures for days, and not because of one bad night. */
import type { EndpointRecord } from '../../store/index.ts';

/** How long nothing may have succeeded, in milliseconds: five days. */
export const GIVE_UP_AFTER_MS = 5 * 86_400_000;

/** Failures have to lie in so many different spans of 12 hours: a few attempts on one day prove nothing. */
export const GIVE_UP_SLOTS = 3;

/**
 * To be asked right after a failure: time that passes without an attempt says nothing about the endpoint.
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
  const days = Math.floor(failingMs / 86_400_000);
  return `nothing but failures in ${days} days, since ${failingSince.toISOString().slice(0, 19)}Z`;
}
