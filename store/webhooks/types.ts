/** Rows of events and deliveries as TypeScript types. Ids are plain UUIDs here; prefixes belong to REST, bodies and logs. */

export interface NewEvent {
  /** UUIDv7 with the event's time. */
  readonly id: string;
  readonly org: string;
  readonly name: string;
  /** Name of the Agent that the event is about. */
  readonly agent?: string | undefined;
  readonly workspace?: string | undefined;
  readonly callId?: string | undefined;
  /** Uid of the one subscription that is to get it. */
  readonly onlySubscription?: string | undefined;
  /** Uid of the one subscription that is not to get it. */
  readonly exceptSubscription?: string | undefined;
  /** The bytes that are signed and sent unchanged; 1 MiB at most. */
  readonly body: Uint8Array;
  /** The trace in which the event was created: W3C Trace Context. */
  readonly traceparent?: string | undefined;
}

/** An event with everything that the relay needs to know. */
export interface OutboxEvent {
  readonly id: string;
  readonly org: string;
  readonly name: string;
  readonly agent: string | undefined;
  readonly workspace: string | undefined;
  readonly onlySubscription: string | undefined;
  readonly exceptSubscription: string | undefined;
  readonly body: Buffer;
  readonly traceparent?: string | undefined;
  readonly createdAt: Date;
  /** The newest write of a subscription of this organisation, where there was one within the last 10 minutes. */
  readonly watermark: StoredWatermark | undefined;
}

/** Resource versions that an informer has to have seen. */
export interface StoredWatermark {
  readonly subscriptions: string | undefined;
  readonly secrets: string | undefined;
  readonly at: Date;
}

/**
 * - `pending`: a first attempt, or a retry within a second, is due at `due_at`; or it is parked behind an open breaker.
 * - `retry_pending`: a retry waits for a workflow that has not started yet.
 * - `retrying`: a workflow has it.
 * - `paused`: it waits until its subscription is active again.
 * - `succeeded`, `failed`, `skipped`: it has ended, until it is replayed.
 */
export const deliveryStates = ['pending', 'retry_pending', 'retrying', 'paused', 'succeeded', 'failed', 'skipped'] as const;

export type DeliveryState = (typeof deliveryStates)[number];

export const liveStates = ['pending', 'retry_pending', 'retrying', 'paused'] as const satisfies readonly DeliveryState[];

/** The order in which events are taken where more wait than are asked for: the oldest first, or a few of each kind. */
export type OutboxOrder = 'age' | 'turns';

export interface PlannedDelivery {
  readonly event: OutboxEvent;
  readonly subscriptionUid: string;
  /** `pending`, unless it must not be sent. */
  readonly state: 'pending' | 'skipped' | 'paused';
  /** The reason of a `skipped` delivery. */
  readonly reason?: string | undefined;
  /** Milliseconds for which the insert itself claims the delivery; without it, it is due at once and any dispatcher may claim it. */
  readonly leaseMs?: number | undefined;
}

/** The relay's decision about a batch. Events that it names nowhere match nothing, and are done. */
export interface RelayDecision {
  readonly deliveries: readonly PlannedDelivery[];
  /** Events that go back into the outbox; none of their deliveries is inserted. */
  readonly postponed?: readonly { readonly eventId: string; readonly delayMs: number }[] | undefined;
}

export interface NewDelivery {
  readonly id: string;
  readonly planned: PlannedDelivery;
}

export interface RelayResult {
  /** Events that left the outbox. */
  readonly taken: number;
  readonly postponed: number;
  /** Deliveries that this call inserted; one that was there before isn't among them. */
  readonly deliveries: readonly NewDelivery[];
  /** Events older than the bodies that are kept: nothing can be sent for them any more. */
  readonly lost: number;
}

/** A delivery that the caller may attempt until its lease ends. */
export interface ClaimedDelivery {
  readonly id: string;
  readonly org: string;
  readonly eventId: string;
  readonly eventName: string;
  readonly subscriptionUid: string;
  readonly attempts: number;
  /** Attempts before the present series; the next attempt has the number `attempts - seriesStart + 1` in it. */
  readonly seriesStart: number;
  readonly createdAt: Date;
  readonly body: Buffer;
  readonly traceparent?: string | undefined;
}

export interface AttemptResult {
  readonly deliveryId: string;
  readonly org: string;
  readonly subscriptionUid: string;
  /** The value at the claim: a result of a former series doesn't decide about the present one. */
  readonly seriesStart: number;
  /** Milliseconds since the epoch. It identifies the attempt of a delivery: a batch that is recorded twice counts once. */
  readonly startedAt: number;
  readonly durationMs: number;
  readonly succeeded: boolean;
  /** A code for machines: `ok`, or the failure's. */
  readonly reason: string;
  readonly statusCode?: number | undefined;
  /** The message for a person; cut at 1,024 characters. */
  readonly message?: string | undefined;
  readonly next: NextStep;
  /** Disables the subscription, because the endpoint said that it is gone for good. */
  readonly disable?: Disabling | undefined;
}

export type NextStep =
  | { readonly state: 'succeeded' }
  | { readonly state: 'failed' }
  /** Sent again by a dispatcher, by a workflow that is still to be started, or by the one that has it. */
  | { readonly state: 'pending' | 'retry_pending' | 'retrying'; readonly delayMs: number }
  | { readonly state: 'paused' };

export interface Disabling {
  readonly reason: string;
  /** The resource's generation; absent for an Agent's own address. */
  readonly generation?: number | undefined;
  /** The event that is written in the same transaction, if this result disabled the subscription. */
  readonly event?: NewEvent | undefined;
}

export interface RecordedAttempt {
  readonly deliveryId: string;
  /** `new`: written now. `known`: it was there before. `unknown`: there is no such delivery (any more). */
  readonly outcome: 'new' | 'known' | 'unknown';
  /** The attempt's number among all attempts of its delivery; 0 for `unknown`. */
  readonly number: number;
  /** The delivery's current state, whichever writer was last. */
  readonly state: DeliveryState | undefined;
}

export interface RecordResult {
  /** The attempts in the order of the given results. */
  readonly attempts: readonly RecordedAttempt[];
  /** The present health of all endpoints that failed in this batch, or have recovered. */
  readonly endpoints: readonly EndpointRecord[];
  /** Uids of the subscriptions that this call disabled. */
  readonly disabled: readonly string[];
}

export type BreakerState = 'closed' | 'open' | 'half_open';

export interface EndpointRecord {
  readonly subscriptionUid: string;
  readonly org: string;
  readonly breaker: BreakerState;
  /** Time of the next probe while the breaker is open. */
  readonly probeAt: Date | undefined;
  readonly opened: number;
  readonly ramp: number;
  readonly rampLeft: number;
  /** Time of the last success, accurate to 10 s. */
  readonly lastSuccessAt: Date | undefined;
  readonly lastFailureAt: Date | undefined;
  readonly consecutiveFailures: number;
  readonly failingSince: Date | undefined;
  /** Number of different spans of 12 hours with failures since then. */
  readonly failureSlots: number;
  readonly disabledAt: Date | undefined;
  readonly disabledReason: string | undefined;
  readonly disabledGeneration: number | undefined;
  /** Version of the breaker and the disabling. */
  readonly version: number;
  readonly changedAt: Date;
  readonly statusWrittenAt: Date | undefined;
}

export interface BreakerChange {
  readonly org: string;
  readonly subscriptionUid: string;
  /** Version that the decision was made on; 0 where there was no row. */
  readonly version: number;
  readonly breaker: BreakerState;
  readonly probeInMs?: number | undefined;
  readonly opened: number;
  readonly ramp: number;
  readonly rampLeft: number;
}

export interface AttemptCounts {
  readonly subscriptionUid: string;
  readonly attempts: number;
  readonly failures: number;
  /** Number of different events among these attempts. */
  readonly events: number;
}

/** A retry that needs a workflow. */
export interface RetryToStart {
  readonly id: string;
  readonly org: string;
  readonly eventId: string;
  readonly subscriptionUid: string;
  readonly state: 'retry_pending' | 'retrying';
  readonly dueAt: Date;
  /** Milliseconds until it is due, by the database's clock; 0 if overdue. */
  readonly dueInMs: number;
  readonly seriesStart: number;
  /** The event's trace, while its body is kept. */
  readonly traceparent?: string | undefined;
}

export interface DeliveryRecord {
  readonly id: string;
  readonly org: string;
  readonly eventId: string;
  readonly eventName: string;
  readonly subscriptionUid: string;
  readonly state: DeliveryState;
  readonly reason: string | undefined;
  readonly attempts: number;
  readonly seriesStart: number;
  /** Time at which a live delivery is due. */
  readonly dueAt: Date | undefined;
  readonly createdAt: Date;
  readonly endedAt: Date | undefined;
}

export interface AttemptRecord {
  readonly number: number;
  readonly startedAt: Date;
  readonly durationMs: number;
  readonly succeeded: boolean;
  readonly reason: string;
  readonly statusCode: number | undefined;
  readonly message: string;
}

export interface DeliveryCounts {
  readonly byState: Readonly<Record<'pending' | 'retry_pending' | 'retrying' | 'paused', number>>;
  /** Number of events that aren't relayed yet. */
  readonly outbox: number;
  /**
   * How long the oldest event of the outbox, and the longest due `pending` delivery, have been waiting, in milliseconds; 0 where none is.
   */
  readonly oldestOutboxMs: number;
  readonly oldestPendingMs: number;
}

export interface EventRecord {
  readonly id: string;
  readonly name: string;
  readonly agent: string | undefined;
  readonly workspace: string | undefined;
  readonly createdAt: Date;
  /** The event's body; undefined once it is no longer kept. */
  readonly body: Buffer | undefined;
}
