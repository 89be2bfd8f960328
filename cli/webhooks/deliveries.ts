/** Reads deliveries over REST for commands that show and repeat them. */

import { awakeClock } from '../../platform/clock.ts';
import { pollUntil } from '../../platform/poll-until.ts';
import { UserError } from '../../platform/user-error.ts';
import type { RestClient } from '../../api/client/rest-client.ts';
import type { AttemptView, DeliveryView, SubscriptionRow } from './tables.ts';

const ROOT = '/v1/public/webhook';
const subscriptionPath = (subscription: string): string => `${ROOT}/subscription/${encodeURIComponent(subscription)}`;
const deliveryPath = (delivery: string): string => `${ROOT}/subscription/deliveries/${encodeURIComponent(delivery)}`;
/** Most deliveries that a page may have. */
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

interface DeliveryQuery {
  readonly subscription: string;
  readonly status?: string | undefined;
  readonly limit: number;
}

interface Recovery {
  readonly since: Date;
  readonly until?: Date | undefined;
  readonly status?: 'failed' | 'skipped' | undefined;
}

interface SentDelivery {
  readonly subscription: string;
  readonly delivery: string;
  readonly withinMs: number;
}

/** Every method throws UserError for what the server refuses. */
export class WebhookClient {
  readonly #rest: RestClient;

  constructor(rest: RestClient) {
    this.#rest = rest;
  }

  listSubscriptions(): Promise<readonly SubscriptionRow[]> {
    return pages(this.#rest, `${ROOT}/subscriptions`, Infinity);
  }

  /** Lists the newest first. */
  listDeliveries({ subscription, status, limit }: DeliveryQuery): Promise<readonly DeliveryView[]> {
    const filter = status === undefined ? '' : `?${new URLSearchParams({ status }).toString()}`;
    return pages(this.#rest, `${subscriptionPath(subscription)}/deliveries${filter}`, limit);
  }

  /** Lists the oldest first. */
  async listAttempts(delivery: string): Promise<readonly AttemptView[]> {
    return (await this.#ask<{ readonly data: readonly AttemptView[] }>('GET', `${deliveryPath(delivery)}/attempts`)).data;
  }

  redeliver(delivery: string): Promise<DeliveryView> {
    return this.#ask('POST', `${deliveryPath(delivery)}/redeliver`);
  }

  /** @returns how many deliveries are sent again */
  async recover(subscription: string, { since, until, status }: Recovery): Promise<number> {
    const body = { since: since.toISOString(), ...(until && { until: until.toISOString() }), ...(status && { status }) };
    return (await this.#ask<{ readonly recovered: number }>('POST', `${subscriptionPath(subscription)}/recover`, body)).recovered;
  }

  sendTest(subscription: string): Promise<{ readonly event_id: string; readonly delivery_id: string }> {
    return this.#ask('POST', `${subscriptionPath(subscription)}/test`);
  }

  /** Polls a delivery that is on its way until an attempt has been made. @throws UserError when none has been in time */
  async firstAttempt({
    subscription,
    delivery,
    withinMs,
  }: SentDelivery): Promise<{ readonly delivery: DeliveryView; readonly attempts: readonly AttemptView[] }> {
    // The list also answers for a delivery whose row does not exist yet: it follows a moment after its event.
    const find = async (): Promise<DeliveryView | undefined> =>
      (await this.listDeliveries({ subscription, limit: PAGE })).find(({ id }) => id === delivery);
    const isSent = (found: DeliveryView): boolean => found.attempts > 0 || found.ended_at !== null;
    const options = { everyMs: 200, withinMs, clock: awakeClock };
    const found = await pollUntil(find, (row) => row !== undefined && isSent(row), options);
    if (found !== undefined && isSent(found)) return { delivery: found, attempts: await this.listAttempts(delivery) };
    const state = found === undefined ? '' : `: it is ${found.status}`;
    throw new UserError(`${delivery} has not been sent after ${withinMs / 1000} s${state}`, { cure: await this.#whyUnsent(subscription) });
  }

  async #whyUnsent(subscription: string): Promise<string> {
    const { state } = await this.#ask<SubscriptionRow>('GET', subscriptionPath(subscription));
    if (state?.ready === false) return `the subscription is not ready (${state.reason}): ${state.message}`;
    return `is the dispatcher running? \`parley webhooks deliveries ${subscription}\` shows how it goes on`;
  }

  async #ask<T>(method: 'GET' | 'POST', path: string, body?: object): Promise<T> {
    return (await this.#rest.request(method, path, body)) as T;
  }
}
