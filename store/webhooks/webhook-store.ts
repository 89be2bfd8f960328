/** The queries of the api and the operator about events and deliveries: as one organisation. */
import type { KeepDays, Maintained } from './dispatch.ts';
import type { DeliveriesPage } from './lists.ts';
import type { Disabling, AttemptRecord, DeliveryRecord, DeliveryState, EndpointRecord, EventRecord, NewEvent } from './types.ts';

interface SubscriptionRef {
  readonly org: string;
  readonly subscriptionUid: string;
}

export interface WebhookStore {
  /** Inserts events with no change of this database behind them, in a transaction of their own. See `insertEvents`. */
  insert(org: string, events: readonly NewEvent[]): Promise<void>;
  /** Lists deliveries, newest first, by the time of the event; those before `before`, an id. */
  deliveries(page: DeliveriesPage): Promise<readonly DeliveryRecord[]>;
  /** Returns undefined for a delivery of another organisation, and for an invalid UUID. */
  delivery(ref: { readonly org: string; readonly deliveryId: string }): Promise<DeliveryRecord | undefined>;
  /** Lists attempts by number. There are few of each delivery: its series are short. */
  attempts(ref: {
    readonly org: string;
    readonly deliveryId: string;
    readonly limit?: number | undefined;
  }): Promise<readonly AttemptRecord[]>;
  /**
   * Replays an ended delivery, with its full number of retries. One that is still on its way, paused included, is due at once instead.
   * @returns the updated delivery; `gone` when its body is no longer kept; undefined when it does not exist
   */
  redeliver(ref: { readonly org: string; readonly deliveryId: string }): Promise<DeliveryRecord | 'gone' | undefined>;
  /**
   * Replays the deliveries of a span of time: those in `states`, by default the failed and the skipped ones.
   * @param span times of the events; `until` is exclusive, now by default
   * @returns how many are replayed
   */
  recover(
    span: SubscriptionRef & {
      readonly since: Date;
      readonly until?: Date | undefined;
      readonly states?: readonly DeliveryState[] | undefined;
    },
  ): Promise<number>;
  /** Returns undefined for an endpoint without a record. */
  endpoint(ref: SubscriptionRef): Promise<EndpointRecord | undefined>;
  endpoints(ref: { readonly org: string; readonly subscriptionUids?: readonly string[] | undefined }): Promise<readonly EndpointRecord[]>;
  disable(ref: SubscriptionRef & Disabling): Promise<boolean>;
  /** @returns false when it wasn't disabled */
  enable(ref: SubscriptionRef): Promise<boolean>;
  /** See `DispatchStore.removeSubscription`. */
  removeSubscription(ref: SubscriptionRef & { readonly limit?: number | undefined }): Promise<boolean>;
  /**
   * Records that a write of a subscription made this resource version (of WebhookSubscriptions, or of Secrets). Only a relay that has seen
   * as much relays events that are committed from now on. Versions only grow, unless the last one is older than 10 minutes.
   */
  raiseWatermark(
    org: string,
    versions: { readonly subscriptions?: string | undefined; readonly secrets?: string | undefined },
  ): Promise<void>;
  /** See `DispatchStore.maintainPartitions`. */
  maintainPartitions(keep: KeepDays): Promise<Maintained>;
  /** Returns events of one organisation by id, for watchers: committed ones after `after`, oldest first. */
  events(page: { readonly org: string; readonly after: string; readonly limit: number }): Promise<readonly EventRecord[]>;
}
