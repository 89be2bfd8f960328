/** Deliveries over REST, as commands show and repeat them. */
import { setTimeout as pause } from 'node:timers/promises';

import { UserError } from '../../platform/user-error.ts';
import type { RestClient } from '../../api/client/rest-client.ts';
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

function listSubscriptions(rest: RestClient): Promise<readonly SubscriptionView[]> {
  return pages(rest, `${root}/subscriptions`, Infinity);
}

export interface WebhookClient {
  listSubscriptions(): Promise<readonly SubscriptionView[]>;
  /** Newest first. */
  listDeliveries(query: DeliveryQuery): Promise<readonly DeliveryView[]>;
  /** Oldest first. */
  listAttempts(delivery: string): Promise<readonly AttemptView[]>;
  redeliver(delivery: string): Promise<DeliveryView>;
  /** @returns how many are sent again */
  recover(subscription: string, recovery: Recovery): Promise<number>;
  sendTest(subscription: string): Promise<SentTest>;
  /** Looks at a delivery that is on its way until an attempt has been made. @throws UserError when none has been in time */
  firstAttempt(sent: SentDelivery): Promise<AttemptedDelivery>;
}

/** Every method throws UserError for what the server refuses. */
export function webhookClient(rest: RestClient): WebhookClient {
  return {
    listSubscriptions: () => listSubscriptions(rest),
    listDeliveries: (query) => listDeliveries(rest, query),
    listAttempts: (delivery) => listAttempts(rest, delivery),
    redeliver: (delivery) => redeliver(rest, delivery),
    recover: (subscription, recovery) => recover(rest, subscription, recovery),
    sendTest: (subscription) => sendTest(rest, subscription),
    firstAttempt: (sent) => firstAttempt(rest, sent),
  };
}

interface SentDelivery {
  readonly subscription: string;
  readonly delivery: string;
  readonly withinMs: number;
}

interface AttemptedDelivery {
  readonly delivery: DeliveryView;
  readonly attempts: readonly AttemptView[];
}

interface DeliveryQuery {
  readonly subscription: string;
  readonly status?: string | undefined;
  readonly limit: number;
}

function listDeliveries(rest: RestClient, { subscription, status, limit }: DeliveryQuery): Promise<readonly DeliveryView[]> {
  const filter = status === undefined ? '' : `?${new URLSearchParams({ status }).toString()}`;
  return pages(rest, `${subscriptionPath(subscription)}/deliveries${filter}`, limit);
}

async function listAttempts(rest: RestClient, delivery: string): Promise<readonly AttemptView[]> {
  return ((await rest.request('GET', `${deliveryPath(delivery)}/attempts`)) as { readonly data: readonly AttemptView[] }).data;
}

async function redeliver(rest: RestClient, delivery: string): Promise<DeliveryView> {
  return (await rest.request('POST', `${deliveryPath(delivery)}/redeliver`)) as DeliveryView;
}

interface Recovery {
  readonly since: Date;
  readonly until?: Date | undefined;
  readonly status?: 'failed' | 'skipped' | undefined;
}

async function recover(rest: RestClient, subscription: string, { since, until, status }: Recovery): Promise<number> {
  const body = { since: since.toISOString(), ...(until && { until: until.toISOString() }), ...(status && { status }) };
  return ((await rest.request('POST', `${subscriptionPath(subscription)}/recover`, body)) as { readonly recovered: number }).recovered;
}

interface SentTest {
  readonly event_id: string;
  readonly delivery_id: string;
}

async function sendTest(rest: RestClient, subscription: string): Promise<SentTest> {
  return (await rest.request('POST', `${subscriptionPath(subscription)}/test`)) as SentTest;
}

async function whyUnsent(rest: RestClient, subscription: string): Promise<string> {
  const { state } = (await rest.request('GET', subscriptionPath(subscription))) as SubscriptionView;
  if (state?.ready === false) return `the subscription is not ready (${state.reason}): ${state.message}`;
  return `is the dispatcher running? \`parley webhooks deliveries ${subscription}\` shows how it goes on`;
}

/** The row comes into being a moment after its event. */
async function firstAttempt(rest: RestClient, { subscription, delivery, withinMs }: SentDelivery): Promise<AttemptedDelivery> {
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
          cure: await whyUnsent(rest, subscription),
        },
      );
    }
    await pause(200);
  }
}
