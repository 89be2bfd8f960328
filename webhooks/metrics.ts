import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

import type { DeliveryCounts } from '../store/webhooks/types.ts';

/** Counts the outcomes of attempts, of the dispatcher and of the worker. */
export interface OutcomeMetrics {
  /** @param outcome `ok`, or the reason of the failure */
  attempted(outcome: string): void;
  /** @param seconds between the commit of the event and the answer of the endpoint */
  received(seconds: number): void;
  finished(state: string): void;
}

export interface DeliveryMetrics extends OutcomeMetrics {
  relayed(events: number): void;
  postponed(reason: string): void;
}

export interface ObservedDispatcher {
  /** Requests on their way. */
  readonly inFlight: () => number;
  /** Deliveries that this process has taken on, those on their way included. */
  readonly claimed: () => number;
  /** Attempts that are not recorded yet. */
  readonly unrecorded: () => number;
  /** Counts of what waits in Postgres; undefined while they aren't known. */
  readonly counts: () => DeliveryCounts | undefined;
  readonly breakers: () => Readonly<Record<'open' | 'half_open', number>>;
}

/** Buckets from half a millisecond to a day: what waits for an endpoint counts like what goes out at once. */
const latencyBuckets = [
  0.0005, 0.001, 0.0025, 0.005, 0.0075, 0.01, 0.015, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 7_200, 86_400,
];

export function createOutcomeMetrics(registry: Registry): OutcomeMetrics {
  const registers = [registry];
  const attempts = new Counter({
    name: 'parley_webhook_attempts_total',
    help: 'Attempts to deliver an event, by outcome: ok, or the reason of the failure.',
    labelNames: ['outcome'],
    registers,
  });
  const latency = new Histogram({
    name: 'parley_webhook_delivery_seconds',
    help: "From an event's commit to the answer of an endpoint that took it.",
    buckets: latencyBuckets,
    registers,
  });
  const deliveries = new Counter({
    name: 'parley_webhook_deliveries_total',
    help: 'Deliveries that have ended, by state: succeeded, failed or skipped.',
    labelNames: ['state'],
    registers,
  });
  return {
    attempted: (outcome) => attempts.inc({ outcome }),
    received: (seconds) => latency.observe(seconds),
    finished: (state) => deliveries.inc({ state }),
  };
}

export function createDeliveryMetrics(registry: Registry): DeliveryMetrics {
  const registers = [registry];
  const outcomes = createOutcomeMetrics(registry);
  const events = new Counter({
    name: 'parley_webhook_relayed_events_total',
    help: 'Events for which it was decided who gets them.',
    registers,
  });
  const postponed = new Counter({
    name: 'parley_webhook_postponed_total',
    help: 'Deliveries that were handed back without an attempt, by reason.',
    labelNames: ['reason'],
    registers,
  });
  return {
    ...outcomes,
    relayed: (count) => events.inc(count),
    postponed: (reason) => postponed.inc({ reason }),
  };
}

/** Samples gauges of what the dispatcher is at, and of what waits in Postgres. */
export function observeDispatcher(registry: Registry, observed: ObservedDispatcher): void {
  const inFlight = new Gauge({
    name: 'parley_webhook_in_flight',
    help: 'Deliveries that this process is at: sending, waiting for their turn, or not yet recorded.',
    labelNames: ['stage'],
    registers: [],
    collect() {
      const sending = observed.inFlight();
      const unrecorded = observed.unrecorded();
      this.set({ stage: 'sending' }, sending);
      this.set({ stage: 'waiting' }, Math.max(0, observed.claimed() - sending - unrecorded));
      this.set({ stage: 'recording' }, unrecorded);
    },
  });
  const backlog = new Gauge({
    name: 'parley_webhook_backlog',
    help: 'What waits in Postgres, of all processes: events that are not relayed (outbox), and deliveries by state. Counted every few seconds.',
    labelNames: ['state'],
    registers: [],
    collect() {
      const counted = observed.counts();
      if (counted === undefined) return;
      this.set({ state: 'outbox' }, counted.outbox);
      for (const [state, count] of Object.entries(counted.byState)) this.set({ state }, count);
    },
  });
  const oldest = new Gauge({
    name: 'parley_webhook_oldest_seconds',
    help: 'How long the oldest event that is not relayed, and the delivery that has been due for longest, have been waiting.',
    labelNames: ['of'],
    registers: [],
    collect() {
      const counted = observed.counts();
      if (counted === undefined) return;
      this.set({ of: 'outbox' }, counted.oldestOutboxMs / 1000);
      this.set({ of: 'pending' }, counted.oldestPendingMs / 1000);
    },
  });
  const breakers = new Gauge({
    name: 'parley_webhook_breakers',
    help: 'Endpoints whose deliveries wait because they only fail (open), or are let go on bit by bit (half_open).',
    labelNames: ['state'],
    registers: [],
    collect() {
      for (const [state, count] of Object.entries(observed.breakers())) this.set({ state }, count);
    },
  });
  for (const gauge of [inFlight, backlog, oldest, breakers]) registry.registerMetric(gauge);
}
