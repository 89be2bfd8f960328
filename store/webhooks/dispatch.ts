/** The queries of the dispatcher and the worker: as `parley_dispatcher`, for all organisations. */
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
  readonly reason?: string | undefined;
  /** `now` makes the deliveries due at once; by default their time stays as it is. */
  readonly due?: 'now' | 'keep' | undefined;
  /** Moves only due deliveries: no `pending` one that a dispatcher is sending. */
  readonly onlyDue?: true | undefined;
  /** Most rows; 1,000 by default. */
  readonly limit?: number | undefined;
}

/**
 * @param currentHealth reads the health of endpoints as it is now, in the transaction that takes the events: it needs no connection of its
 * own
 */
export type DecideAboutEvents = (
  events: readonly OutboxEvent[],
  currentHealth: (uids: readonly string[]) => Promise<readonly EndpointRecord[]>,
) => RelayDecision | Promise<RelayDecision>;

/** Moves deliveries on. Instants are the database's: no two processes need the same clock. */
export interface DispatchStore {
  /**
   * Takes up to `limit` events out of the outbox and inserts the deliveries that `decide` plans for them, in one transaction: two relays
   * never take the same event, and a crash leaves it where it was. `decide` is called once for each try: its decision before a lost
   * connection may or may not have been inserted, and if so, its leases run out by themselves. It should be quick: the events are locked
   * meanwhile.
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
   * Claims a delivery for its retry activity if it is to be retried (`retry_pending` or `retrying`) and is due. Otherwise it returns the
   * state, and in how many milliseconds the delivery is due (0 unless it is live): another dispatcher may have it until then. Undefined
   * when it is gone.
   */
  claimOne(
    deliveryId: string,
    leaseMs: number,
  ): Promise<ClaimedDelivery | { readonly state: DeliveryState; readonly dueInMs: number } | undefined>;
  /** Returns uids of the subscriptions that have a due `pending` delivery. */
  dueSubscriptions(): Promise<readonly string[]>;
  /** Stores attempts, deliveries, endpoints and disablings, all in one transaction. May be repeated: an attempt counts once. */
  record(results: readonly AttemptResult[]): Promise<RecordResult>;
  /** Hands claimed deliveries back without an attempt: due again `delayMs` from now, in the state they were claimed in. */
  release(deliveryIds: readonly string[], delayMs: number): Promise<void>;
  /** Ends or moves claimed deliveries without an attempt. Deliveries that have ended meanwhile stay so. */
  settle(deliveryIds: readonly string[], next: NextStep | { readonly state: 'skipped' }, reason?: string): Promise<void>;
  /** @returns how many were moved */
  transition(transition: DeliveryTransition): Promise<number>;

  /**
   * Returns retries that no workflow has (due within `aheadMs`), then those whose workflow has been silent for `lostMs` since they were
   * due; oldest first of each.
   */
  retriesToStart(options: {
    readonly aheadMs: number;
    readonly lostMs: number;
    readonly limit: number;
    /** Uids of subscriptions whose retries wait. */
    readonly except?: readonly string[] | undefined;
  }): Promise<readonly RetryToStart[]>;
  /** Records that workflows were started: `retry_pending` becomes `retrying`. */
  markRetrying(deliveryIds: readonly string[]): Promise<void>;
  subscriptionsIn(states: readonly DeliveryState[]): Promise<readonly string[]>;

  /** Returns the health of endpoints; those that never failed and were never disabled may have no row. */
  endpoints(options?: {
    readonly changedSince?: Date | undefined;
    readonly uids?: readonly string[] | undefined;
  }): Promise<readonly EndpointRecord[]>;
  /** @returns the changed endpoint, or undefined when the decision was made on an older version */
  changeBreaker(change: BreakerChange): Promise<EndpointRecord | undefined>;
  /**
   * Lets one of all processes probe an open endpoint when its time has come; the next probe is `leaseMs` from now unless another decision
   * is recorded.
   */
  takeProbe(subscriptionUid: string, leaseMs: number): Promise<boolean>;
  /** Takes up to `wanted` of the attempts that a half-open endpoint still lets through in this step. @returns how many were granted */
  takeRamp(subscriptionUid: string, wanted: number): Promise<number>;
  /** Counts the attempts of the last `windowMs`. Subscriptions without attempts are left out. */
  attemptWindows(uids: readonly string[], windowMs: number): Promise<readonly AttemptCounts[]>;
  /** @returns false when it was disabled already; the event is written only with true */
  disable(endpoint: { readonly org: string; readonly subscriptionUid: string } & Disabling): Promise<boolean>;
  /** Forgets the disabling and the counted failures. @returns false when the endpoint wasn't disabled */
  enable(endpoint: { readonly org: string; readonly subscriptionUid: string }): Promise<boolean>;
  /** Closes the breaker and forgets the counted failures. @returns the changed endpoint; undefined where there was neither */
  forgetFailures(subscriptionUid: string): Promise<EndpointRecord | undefined>;
  /**
   * Returns endpoints that have changed since their status was last written, `everyMs` ago or longer, or `timesEveryMs` where only times have
   * changed: of all processes the caller gets to write them.
   */
  takeStatusWrites(which: {
    readonly everyMs: number;
    readonly timesEveryMs: number;
    readonly limit: number;
  }): Promise<readonly EndpointRecord[]>;
  /** Gives back writes that failed: another process may make them at once. */
  giveBackStatusWrites(subscriptionUids: readonly string[]): Promise<void>;
  /**
   * Ends the open deliveries of a deleted subscription as `skipped`, reason `subscription_deleted`, and deletes its endpoint's row.
   * @returns whether there may be more: call again
   */
  removeSubscription(subscriptionUid: string, limit?: number): Promise<boolean>;

  /** Stores new names. @returns names that are stored with another uid; these stay as they are */
  nameSubscriptions(subscriptions: readonly NamedSubscription[]): Promise<readonly Succession[]>;
  /** Forgets the name of a deleted subscription: the next one of its name starts from scratch. */
  forgetName(subscriptionUid: string): Promise<void>;
  /**
   * Gives the deliveries of the former uid to the successor.
   * @returns whether there may be more: call again
   */
  adoptDeliveries(succession: Succession & { readonly generation: number }): Promise<boolean>;

  counts(): Promise<DeliveryCounts>;
  /** Makes tables ahead of time and drops old ones. */
  maintainPartitions(keep: KeepDays): Promise<Maintained>;
  /**
   * Calls back when something may be in the outbox, until the store is closed. These are only hints; a poll backs them. Claims of a store that
   * listens are known to be its own.
   */
  listen(onOutbox: () => void): void;
  /**
   * Returns the numbers of the stores that listen, of all processes. Undefined while this one doesn't, and for ten seconds after it lost its
   * session: what ended that one may have ended the others.
   */
  claimOwners(): Promise<ReadonlySet<number> | undefined>;
  /**
   * Makes due what stores have claimed that don't listen any more, nor are among `except`. Claims without an owner stay.
   * @returns uids of their subscriptions
   */
  freeClaims(except: ReadonlySet<number>): Promise<readonly string[]>;
  health(): Promise<void>;
  close(): Promise<void>;
}

export interface KeepDays {
  /** Days for which events and deliveries with their attempts are kept. */
  readonly eventsKeepDays: number;
  readonly bodiesKeepDays: number;
}

export interface Maintained {
  readonly made: number;
  readonly dropped: number;
  readonly deleted: number;
  /** Locked tables, which the next run maintains. */
  readonly postponed: number;
}
