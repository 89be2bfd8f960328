/** The rows of events and deliveries in TypeScript's terms. Ids are plain UUIDs here; prefixes belong to REST, bodies and logs. */

/** An event as it is written, with the change it reports. */
export interface NewEvent {
  /** UUIDv7: its time is the event's. */
  readonly id: string;
  readonly org: string;
  readonly name: string;
  /** Name of the Agent it is about. */
  readonly agent?: string | undefined;
  /** Workspace of what it is about. */
  readonly workspace?: string | undefined;
  /** The call it is about. */
  readonly callId?: string | undefined;
  /** Uid of the one subscription that is to get it. */
  readonly onlySubscription?: string | undefined;
  /** Uid of the one subscription that is not to get it. */
  readonly exceptSubscription?: string | undefined;
  /** Signed and sent as they are; 1 MiB at most. */
  readonly body: Uint8Array;
  /** The trace in which it was created: W3C Trace Context. */
  readonly traceparent?: string | undefined;
}

/** What an event is to be relayed by. */
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
 * - `retry_pending`: to be handed to a workflow that has not started yet.
 * - `retrying`: a workflow has it.
 * - `paused`: waits until its subscription is active again.
 * - `succeeded`, `failed`, `skipped`: at an end, until it is replayed.
 */
export const deliveryStates = ['pending', 'retry_pending', 'retrying', 'paused', 'succeeded', 'failed', 'skipped'] as const;

export type DeliveryState = (typeof deliveryStates)[number];

/** Those that something is still to happen to. */
export const liveStates = ['pending', 'retry_pending', 'retrying', 'paused'] as const satisfies readonly DeliveryState[];

/** Which events are taken first, where there are more than are asked for: the oldest, or a few of each kind that is emitted. */
export type OutboxOrder = 'age' | 'turns';

/** The relay's decision about one event. */
export interface PlannedDelivery {
  readonly event: OutboxEvent;
  readonly subscriptionUid: string;
  /** `pending`, unless it isn't to be sent. */
  readonly state: 'pending' | 'skipped' | 'paused';
  /** Of `skipped`. */
  readonly reason?: string | undefined;
  /** Claimed by the very insert, for so many milliseconds; left out, it is due at once and any dispatcher may claim it. */
  readonly leaseMs?: number | undefined;
}

/** What the relay makes of a batch. Events it names nowhere match nothing, and are done. */
export interface RelayDecision {
  readonly deliveries: readonly PlannedDelivery[];
  /** Back into the outbox; none of their deliveries is inserted. */
  readonly postponed?: readonly { readonly eventId: string; readonly delayMs: number }[] | undefined;
}

/** A delivery as it was inserted. */
export interface NewDelivery {
  readonly id: string;
  readonly planned: PlannedDelivery;
}

export interface RelayResult {
  /** Events that left the outbox. */
  readonly taken: number;
  readonly postponed: number;
  /** Those that were inserted by this call; one that was there before isn't among them. */
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
  /** Attempts so far. */
  readonly attempts: number;
  /** Attempts before the present series; `attempts - seriesStart + 1` is the number in the series of the one to come. */
  readonly seriesStart: number;
  /** When the delivery was made. */
  readonly createdAt: Date;
  readonly body: Buffer;
  /** Of the event. */
  readonly traceparent?: string | undefined;
}

/** How an attempt ended and what follows. */
export interface AttemptResult {
  readonly deliveryId: string;
  readonly org: string;
  readonly subscriptionUid: string;
  /** As it was claimed: a result of a former series doesn't decide about the present one. */
  readonly seriesStart: number;
  /** Milliseconds since the epoch. With the delivery it names the attempt: a batch that is recorded twice counts once. */
  readonly startedAt: number;
  readonly durationMs: number;
  readonly succeeded: boolean;
  /** A word for machines: `ok`, or of the failure. */
  readonly reason: string;
  readonly statusCode?: number | undefined;
  /** For a person; cut at 1,024 characters. */
  readonly message?: string | undefined;
  readonly next: NextStep;
  /** The endpoint said that it is gone for good: its subscription is disabled with this. */
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
  /** Of the resource; absent for an Agent's own address. */
  readonly generation?: number | undefined;
  /** Written in the same transaction, if this is what disabled it. */
  readonly event?: NewEvent | undefined;
}

export interface RecordedAttempt {
  readonly deliveryId: string;
  /** `new`: written now. `known`: it was there before. `unknown`: there is no such delivery (any more). */
  readonly outcome: 'new' | 'known' | 'unknown';
  /** The attempt's number among all of its delivery; 0 for `unknown`. */
  readonly number: number;
  /** The delivery's current state, whichever writer was last. */
  readonly state: DeliveryState | undefined;
}

export interface RecordResult {
  /** In the order of what was given. */
  readonly attempts: readonly RecordedAttempt[];
  /** As they are now: of all that failed in this batch, or have come back. */
  readonly endpoints: readonly EndpointRecord[];
  /** Uids of the subscriptions that this call disabled. */
  readonly disabled: readonly string[];
}

export type BreakerState = 'closed' | 'open' | 'half_open';

/** The health of an endpoint. */
export interface EndpointRecord {
  readonly subscriptionUid: string;
  readonly org: string;
  readonly breaker: BreakerState;
  /** While open: when the next delivery is tried. */
  readonly probeAt: Date | undefined;
  readonly opened: number;
  readonly ramp: number;
  readonly rampLeft: number;
  /** Within 10 s. */
  readonly lastSuccessAt: Date | undefined;
  readonly lastFailureAt: Date | undefined;
  readonly consecutiveFailures: number;
  readonly failingSince: Date | undefined;
  /** Different spans of 12 hours with failures since then. */
  readonly failureSlots: number;
  readonly disabledAt: Date | undefined;
  readonly disabledReason: string | undefined;
  readonly disabledGeneration: number | undefined;
  /** Of the breaker and the disabling. */
  readonly version: number;
  readonly changedAt: Date;
  readonly statusWrittenAt: Date | undefined;
}

/** What a breaker is to become. */
export interface BreakerChange {
  readonly org: string;
  readonly subscriptionUid: string;
  /** What the decision was made on; 0 where there was no row. */
  readonly version: number;
  readonly breaker: BreakerState;
  readonly probeInMs?: number | undefined;
  readonly opened: number;
  readonly ramp: number;
  readonly rampLeft: number;
}

/** What the attempts of the last while say. */
export interface AttemptCounts {
  readonly subscriptionUid: string;
  readonly attempts: number;
  readonly failures: number;
  /** Different events that these attempts were of. */
  readonly events: number;
}

/** A retry that a workflow is to have. */
export interface RetryToStart {
  readonly id: string;
  readonly org: string;
  readonly eventId: string;
  readonly subscriptionUid: string;
  readonly state: 'retry_pending' | 'retrying';
  readonly dueAt: Date;
  /** Until it is due, by the database's clock; 0 if overdue. */
  readonly dueInMs: number;
  readonly seriesStart: number;
  /** Of the event, while its body is kept. */
  readonly traceparent?: string | undefined;
}

/** A delivery for a list. */
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
  /** Of a live one: when something is to happen. */
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
  /** Events that aren't relayed yet. */
  readonly outbox: number;
  /** How long the oldest of them, and the longest due `pending` delivery, have been waiting, in milliseconds; 0 where none is. */
  readonly oldestOutboxMs: number;
  readonly oldestPendingMs: number;
}

export interface EventRecord {
  readonly id: string;
  readonly name: string;
  readonly agent: string | undefined;
  readonly workspace: string | undefined;
  readonly createdAt: Date;
  /** Undefined once it is no longer kept. */
  readonly body: Buffer | undefined;
}
