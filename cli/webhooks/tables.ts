/** Formats subscriptions, deliveries and attempts as tables for a person. Pure. */
import { span } from '../age.ts';
import { table } from '../table.ts';

export interface SubscriptionRow {
  readonly id: string;
  readonly name: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly active: boolean;
  readonly signing_enabled: boolean;
  readonly agent_ids?: readonly string[];
  readonly workspace_ids?: readonly string[];
  /** Absent from older servers. */
  readonly state?: { readonly ready: boolean; readonly reason: string; readonly message: string };
}

export interface DeliveryView {
  readonly id: string;
  readonly subscription_id: string;
  readonly event_id: string;
  readonly event_name: string;
  readonly status: string;
  readonly reason: string | null;
  readonly attempts: number;
  readonly next_attempt_at: string | null;
  readonly created_at: string;
  readonly ended_at: string | null;
}

export interface AttemptView {
  readonly number: number;
  readonly started_at: string;
  readonly duration_ms: number;
  readonly succeeded: boolean;
  readonly reason: string;
  readonly status_code: number | null;
  readonly message: string;
}

export function subscriptionTable(subscriptions: readonly SubscriptionRow[]): string {
  return table(
    ['SUBSCRIPTION', 'NAME', 'URL', 'EVENTS', 'ONLY OF', 'SIGNED', 'ACTIVE', 'REASON'],
    subscriptions.map((each) => [
      each.id,
      each.name,
      each.url,
      each.events.length === 0 ? '*' : each.events.join(','),
      [...(each.agent_ids ?? []), ...(each.workspace_ids ?? [])].join(',') || '-',
      each.signing_enabled ? 'yes' : 'no',
      each.active ? 'yes' : 'no',
      each.state?.reason ?? '-',
    ]),
  );
}

/** @param now milliseconds since the Unix epoch */
export function deliveryTable(deliveries: readonly DeliveryView[], now: number): string {
  return table(
    ['DELIVERY', 'EVENT', 'EVENT ID', 'STATUS', 'ATTEMPTS', 'REASON', 'NEXT TRY', 'AGE'],
    deliveries.map((each) => [
      each.id,
      each.event_name,
      each.event_id,
      each.status,
      String(each.attempts),
      each.reason ?? '-',
      each.next_attempt_at === null ? '-' : nextTry(Date.parse(each.next_attempt_at) - now),
      span(now - Date.parse(each.created_at)),
    ]),
  );
}

export function attemptTable(attempts: readonly AttemptView[]): string {
  return table(
    ['ATTEMPT', 'STARTED', 'TOOK', 'ANSWER', 'REASON', 'MESSAGE'],
    attempts.map((each) => [
      String(each.number),
      each.started_at,
      `${each.duration_ms} ms`,
      each.status_code === null ? '-' : String(each.status_code),
      each.reason,
      each.message === '' ? '-' : each.message,
    ]),
  );
}

const nextTry = (ms: number): string => (ms <= 0 ? 'now' : `in ${span(ms)}`);
