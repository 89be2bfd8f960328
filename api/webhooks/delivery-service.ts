/** Reads the deliveries of a subscription, and sends them again. All of their data is in Postgres. */
import type { Agent, WebhookSubscription } from '../../crds/index.ts';
import type { Stored } from '../../kube/types.ts';
import type { Clock } from '../../platform/clock.ts';
import { deliveryIdOf, type AttemptRecord, type DeliveryRecord, type EndpointRecord, type WebhookStore } from '../../store/index.ts';
import { buildEvent } from '../../events/emit.ts';
import { isDisabled } from '../../webhooks/endpoint-health/is-disabled.ts';
import { requestedAtOf } from '../../webhooks/subscriptions/endpoint-of.ts';
import { ApiError, notFound } from '../http/api-error.ts';
import { deliveryIdFrom, statesOf } from './delivery-codec.ts';
import type { DeliveryStatus, Recovery } from './schema.ts';

type Subscription = Stored<WebhookSubscription>;

export class DeliveryService {
  readonly #store: WebhookStore;
  readonly #clock: Clock;

  constructor(options: { readonly store: WebhookStore; readonly clock: Clock }) {
    this.#store = options.store;
    this.#clock = options.clock;
  }

  /** Returns the uids of those among `subscriptions` that were switched off because of their failures. */
  async disabled(org: string, subscriptions: readonly Subscription[]): Promise<ReadonlySet<string>> {
    if (subscriptions.length === 0) return new Set();
    const records = await this.#store.endpoints({ org, subscriptionUids: subscriptions.map(({ metadata }) => metadata.uid) });
    const known = new Map(records.map((record) => [record.subscriptionUid, record]));
    return new Set(subscriptions.flatMap(({ metadata }) => (isSwitchedOff(known.get(metadata.uid), metadata) ? [metadata.uid] : [])));
  }

  /** @param receiver a subscription, or an agent with its own address @param page.before the delivery before the page, newest first */
  async list(
    receiver: Subscription | Stored<Agent>,
    page: {
      readonly size: number;
      readonly status?: DeliveryStatus | undefined;
      readonly callId?: string | undefined;
      readonly before?: string | undefined;
    },
  ): Promise<{ readonly items: readonly DeliveryRecord[]; readonly next: string | undefined }> {
    const rows = await this.#store.deliveries({
      ...refTo(receiver),
      states: page.status === undefined ? undefined : statesOf(page.status),
      callId: page.callId,
      before: page.before,
      limit: page.size + 1,
    });
    const items = rows.slice(0, page.size);
    return { items, next: rows.length > page.size ? items.at(-1)?.id : undefined };
  }

  /**
   * @param subscription the subscription of the delivery; where absent, any of the organisation
   * @throws ApiError `not_found`, as every method does that takes a delivery's id
   */
  async get(org: string, id: string, subscription?: Subscription): Promise<DeliveryRecord> {
    const deliveryId = deliveryIdFrom(id);
    const found = deliveryId === undefined ? undefined : await this.#store.delivery({ org, deliveryId });
    if (found === undefined || (subscription !== undefined && found.subscriptionUid !== subscription.metadata.uid))
      throw notFound('Webhook delivery');
    return found;
  }

  attempts({ org, id }: DeliveryRecord): Promise<readonly AttemptRecord[]> {
    return this.#store.attempts({ org, deliveryId: id });
  }

  async redeliver({ org, id }: DeliveryRecord, subscription: Subscription): Promise<DeliveryRecord> {
    await this.#requireActive(subscription);
    const again = await this.#store.redeliver({ org, deliveryId: id });
    if (again === undefined) throw notFound('Webhook delivery');
    if (again === 'gone') throw new ApiError('conflict', 'what was sent is no longer kept, so that it can not be sent again');
    return again;
  }

  /** @returns how many deliveries are sent again */
  async recover(subscription: Subscription, { since, until, status }: Recovery): Promise<number> {
    await this.#requireActive(subscription);
    return this.#store.recover({
      ...refTo(subscription),
      since: new Date(since),
      until: until === undefined || until === null ? undefined : new Date(until),
      states: status === undefined || status === null ? undefined : [status],
    });
  }

  /** Sends an event of its own, for this subscription alone. */
  async test(subscription: Subscription): Promise<{ readonly eventId: string; readonly deliveryId: string }> {
    await this.#requireActive(subscription);
    const { org, subscriptionUid } = refTo(subscription);
    const event = buildEvent({
      name: 'Webhook.Test',
      org,
      payload: { subscription_id: subscription.metadata.name },
      onlySubscription: subscriptionUid,
      now: this.#clock.now(),
    });
    await this.#store.insert(org, [event]);
    return { eventId: event.id, deliveryId: deliveryIdOf(event.id, subscriptionUid) };
  }

  async #requireActive(subscription: Subscription): Promise<void> {
    const { spec, metadata } = subscription;
    const refuse = (why: string, cure: string): ApiError =>
      new ApiError('conflict', `the subscription ${why}, so that nothing is sent to it: ${cure}`);
    if (spec.suspend === true) throw refuse('is paused', 'set active to true first');
    const endpoint = await this.#store.endpoint(refTo(subscription));
    if (isSwitchedOff(endpoint, metadata)) throw refuse('was disabled because of its failures', 'set active to true first');
  }
}

function refTo({ metadata }: Pick<Subscription, 'metadata'>): { readonly org: string; readonly subscriptionUid: string } {
  return { org: metadata.namespace ?? '', subscriptionUid: metadata.uid };
}

function isSwitchedOff(endpoint: EndpointRecord | undefined, metadata: Subscription['metadata']): boolean {
  return isDisabled(endpoint, { generation: metadata.generation ?? 0, requestedAt: requestedAtOf(metadata) });
}
