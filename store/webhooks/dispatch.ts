/** What the dispatcher and the worker ask of Postgres: as `parley_dispatcher`, for all organisations. */
import type {
  AttemptResult,
  AttemptCounts,
  BreakerChange,
  ClaimedDelivery,
  DeliveryCounts,
  DeliveryState,
  Disabling,
  EndpointRecord,
  NextStep,
  OutboxOrder,
  OutboxEvent,
  RecordResult,
  RelayDecision,
  RelayResult,
  RetryToStart,
} from './types.ts';
import type { NamedSubscription, Succession } from './names.ts';

export interface DeliveryTransition {
  readonly subscriptionUid: string;
  readonly from: readonly DeliveryState[];
  readonly to: 'pending' | 'paused' | 'retry_pending' | 'failed' | 'skipped';
  /** Of an end. */
  readonly reason?: string | undefined;
  /** `now` makes them due at once; by default their time stays as it is. */
  readonly due?: 'now' | 'keep' | undefined;
  /** Only those that are due: of `pending` ones, none that a dispatcher is sending. */
  readonly onlyDue?: true | undefined;
  /** Rows at most; 1,000 by default. */
  readonly limit?: number | undefined;
}

/** @param currentHealth reads the health of endpoints as it is now, in the transaction that takes the events: it needs no connection of its own */
export type DecideAboutEvents = (
  events: readonly OutboxEvent[],
  currentHealth: (uids: readonly string[]) => Promise<readonly EndpointRecord[]>,
) => RelayDecision | Promise<RelayDecision>;

/** Everything that moves deliveries on. Instants are the database's: no two processes need the same clock. */
export interface DispatchStore {
  /**
   * Takes up to `limit` events out of the outbox and inserts what `decide` makes of them, in one transaction: two relays never take the same
   * event, and a crash leaves it where it was. `decide` is called once for each try: what it answered before a lost connection may or may not
   * have been inserted, and if so, its leases run out by themselves. It should be quick: the events are locked meanwhile.
   *
   * @param options.order which of the due events come first; `age` by default
   */
  takeOutbox(limit: number, decide: DecideAboutEvents, options?: { readonly order?: OutboxOrder }): Promise<RelayResult>;
  /** Claims due `pending` deliveries, oldest first, as many of each subscription as there is room for and `limit` in all. */
  claim(
    rooms: ReadonlyMap<string, number>,
    leaseMs: (subscriptionUid: string) => number,
    limit: number,
  ): Promise<readonly ClaimedDelivery[]>;
  /**
   * For the activity of a retry: the delivery if it is to be retried (`retry_pending` or `retrying`) and is due; otherwise its state, and in how
   * many milliseconds it is due (0 for what isn't live): another dispatcher may have it until then. Undefined when it is gone.
   */
  claimOne(
    deliveryId: string,
    leaseMs: number,
  ): Promise<ClaimedDelivery | { readonly state: DeliveryState; readonly dueInMs: number } | undefined>;
  /** Uids of the subscriptions that have a due `pending` delivery. */
  dueSubscriptions(): Promise<readonly string[]>;
  /** Attempts, deliveries, endpoints and disablings, all in one transaction. May be repeated: an attempt counts once. */
  record(results: readonly AttemptResult[]): Promise<RecordResult>;
  /** Hands claimed deliveries back without an attempt: due again `delayMs` from now, in the state they were claimed in. */
  release(deliveryIds: readonly string[], delayMs: number): Promise<void>;
  /** Ends or moves claimed deliveries without an attempt. Deliveries that have ended meanwhile stay so. */
  settle(deliveryIds: readonly string[], next: NextStep | { readonly state: 'skipped' }, reason?: string): Promise<void>;
  /** @returns how many were moved */
  transition(transition: DeliveryTransition): Promise<number>;

  /**
   * Retries that no workflow has (due within `aheadMs`), then those whose workflow has been silent for `lostMs` since they were due; oldest
   * first of each.
   */
  retriesToStart(options: {
    readonly aheadMs: number;
    readonly lostMs: number;
    readonly limit: number;
    /** Uids whose retries wait. */
    readonly except?: readonly string[] | undefined;
  }): Promise<readonly RetryToStart[]>;
  /** Workflows were started for them: `retry_pending` becomes `retrying`. */
  markRetrying(deliveryIds: readonly string[]): Promise<void>;
  /** Uids of all subscriptions that have deliveries in one of these states. */
  subscriptionsIn(states: readonly DeliveryState[]): Promise<readonly string[]>;

  /** The health of endpoints; those that never failed and were never disabled may have no row. */
  endpoints(options?: {
    readonly changedSince?: Date | undefined;
    readonly uids?: readonly string[] | undefined;
  }): Promise<readonly EndpointRecord[]>;
  /** @returns the endpoint as it is then, or undefined when the decision was made on something older than what there is */
  changeBreaker(change: BreakerChange): Promise<EndpointRecord | undefined>;
  /** One of all processes may probe an open endpoint when its time has come; the next probe is `leaseMs` from now unless another decision is recorded. */
  takeProbe(subscriptionUid: string, leaseMs: number): Promise<boolean>;
  /** Takes up to `wanted` of what a half-open endpoint still lets through in this step. @returns how many were granted */
  takeRamp(subscriptionUid: string, wanted: number): Promise<number>;
  /** Of the last `windowMs`. Subscriptions without attempts are left out. */
  attemptWindows(uids: readonly string[], windowMs: number): Promise<readonly AttemptCounts[]>;
  /** @returns false when it was disabled already; the event is written only with true */
  disable(endpoint: { readonly org: string; readonly subscriptionUid: string } & Disabling): Promise<boolean>;
  /** The disabling, and with it what was counted of failures, is forgotten. @returns false when it wasn't disabled */
  enable(endpoint: { readonly org: string; readonly subscriptionUid: string }): Promise<boolean>;
  /** Closes the breaker and forgets what was counted of failures. @returns the endpoint as it is then; undefined where there was neither */
  forgetFailures(subscriptionUid: string): Promise<EndpointRecord | undefined>;
  /** Endpoints that have changed since their status was last written, `everyMs` ago or longer: of all processes the caller gets to write them. */
  takeStatusWrites(which: { readonly everyMs: number; readonly limit: number }): Promise<readonly EndpointRecord[]>;
  /** They could not be written: another process may, at once. */
  giveBackStatusWrites(subscriptionUids: readonly string[]): Promise<void>;
  /**
   * Ends the open deliveries of a deleted subscription as `skipped`, reason `subscription_deleted`, and deletes its endpoint's row.
   * @returns whether there may be more: call again
   */
  removeSubscription(subscriptionUid: string, limit?: number): Promise<boolean>;

  /** Writes down the names that are new. @returns those that stand there with another uid; these stay as they are */
  nameSubscriptions(subscriptions: readonly NamedSubscription[]): Promise<readonly Succession[]>;
  /** A subscription was deleted: the next one of its name starts from scratch. */
  forgetName(subscriptionUid: string): Promise<void>;
  /**
   * What stands under the former uid is the successor's.
   * @returns whether there may be more: call again
   */
  adoptDeliveries(succession: Succession & { readonly generation: number }): Promise<boolean>;

  counts(): Promise<DeliveryCounts>;
  /** Makes tables ahead of time and drops old ones. */
  maintainPartitions(keep: KeepDays): Promise<Maintained>;
  /** Calls back when something may be in the outbox, until it is stopped. Hints only: a poll stands behind it. */
  listen(onOutbox: () => void): { stop(): Promise<void> };
  health(): Promise<void>;
  close(): Promise<void>;
}

export interface KeepDays {
  /** Of events and deliveries with their attempts. */
  readonly eventsKeepDays: number;
  /** Of bodies. */
  readonly bodiesKeepDays: number;
}

export interface Maintained {
  readonly made: number;
  readonly dropped: number;
  /** Rows. */
  readonly deleted: number;
  /** Tables that were locked: they are done the next time. */
  readonly postponed: number;
}
