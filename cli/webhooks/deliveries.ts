/** Deliveries over REST, as commands show and repeat them. */
import { setTimeout as pause } from 'node:timers/promises';

import { UserError } from '../failure.ts';
import type { RestClient } from '../rest.ts';
import type { AttemptView, DeliveryView, SubscriptionView } from './tables.ts';

const root = '/v1/public/webhook';
const subscriptionPath = (subscription: string): string => `${root}/subscription/${encodeURIComponent(subscription)}`;
const deliveryPath = (delivery: string): string => `${root}/subscription/deliveries/${encodeURIComponent(delivery)}`;
/** The most that a page may have. */
const PAGE = 100;

interface Page<T> {
  readonly data: readonly T[];
  readonly next_page_token: string | null;
}

async function pages<T>(rest: RestClient, path: string, limit: number): Promise<readonly T[]> {
  const items: T[] = [];
  for (let token: string | null | undefined; token !== null && items.length < limit;) {
    const query = new URLSearchParams({ page_size: String(Math.min(PAGE, limit - items.length)), ...(token && { page_token: token }) });
    const page = (await rest.request('GET', `${path}${path.includes('?') ? '&' : '?'}${query.toString()}`)) as Page<T>;
    items.push(...page.data);
    token = page.next_page_token;
  }
  return items;
}

export function listSubscriptions(rest: RestClient): Promise<readonly SubscriptionView[]> {
  return pages(rest, `${root}/subscriptions`, Infinity);
}

export interface DeliveryQuery {
  readonly subscription: string;
  readonly status?: string | undefined;
  readonly limit: number;
}

/** Newest first. */
export function listDeliveries(rest: RestClient, { subscription, status, limit }: DeliveryQuery): Promise<readonly DeliveryView[]> {
  const filter = status === undefined ? '' : `?${new URLSearchParams({ status }).toString()}`;
  return pages(rest, `${subscriptionPath(subscription)}/deliveries${filter}`, limit);
}

/** Oldest first. */
export async function listAttempts(rest: RestClient, delivery: string): Promise<readonly AttemptView[]> {
  return ((await rest.request('GET', `${deliveryPath(delivery)}/attempts`)) as { readonly data: readonly AttemptView[] }).data;
}

export async function redeliver(rest: RestClient, delivery: string): Promise<DeliveryView> {
  return (await rest.request('POST', `${deliveryPath(delivery)}/redeliver`)) as DeliveryView;
}

export interface Recovery {
  readonly since: Date;
  readonly until?: Date | undefined;
  readonly status?: 'failed' | 'skipped' | undefined;
}

/** @returns how many are sent again */
export async function recover(rest: RestClient, subscription: string, { since, until, status }: Recovery): Promise<number> {
  const body = { since: since.toISOString(), ...(until && { until: until.toISOString() }), ...(status && { status }) };
  return ((await rest.request('POST', `${subscriptionPath(subscription)}/recover`, body)) as { readonly recovered: number }).recovered;
}

export interface SentTest {
  readonly event_id: string;
  readonly delivery_id: string;
}

export async function sendTest(rest: RestClient, subscription: string): Promise<SentTest> {
  return (await rest.request('POST', `${subscriptionPath(subscription)}/test`)) as SentTest;
}

/** Looks at a delivery that is on its way until an attempt has been made: the row comes into being a moment after its event. */
export async function firstAttempt(
  rest: RestClient,
  { subscription, delivery, withinMs }: { readonly subscription: string; readonly delivery: string; readonly withinMs: number },
): Promise<{ readonly delivery: DeliveryView; readonly attempts: readonly AttemptView[] }> {
  for (const deadline = performance.now() + withinMs; ;) {
    // Told by the list, which answers for a delivery that is not there yet as well.
    const found = (await listDeliveries(rest, { subscription, limit: PAGE })).find(({ id }) => id === delivery);
    if (found !== undefined && (found.attempts > 0 || found.ended_at !== null)) {
      return { delivery: found, attempts: await listAttempts(rest, delivery) };
    }
    if (performance.now() > deadline) {
      throw new UserError(
        `${delivery} has not been sent after ${withinMs / 1000} s${found === undefined ? '' : `: it is ${found.status}`}`,
        {
          cure: `is the dispatcher running? \`parley webhooks deliveries ${subscription}\` shows how it goes on`,
        },
      );
    }
    await pause(200);
  }
}
