/**
 * The way of an event to its endpoints. Each step hands to the next one:
 *
 * 1. `events/emit.ts` writes an event with a row in the outbox, in the transaction of the change that it reports.
 * 2. `../relay/relay.ts` takes it out of the outbox and makes a delivery for each endpoint that it matches (`../relay/plan-deliveries.ts`).
 * 3. `claimer.ts` claims due deliveries for endpoints that have room in `endpoint-queues.ts`; the relay claims what it makes where there is room.
 * 4. `attempter.ts` sends each one (`../attempt/attempt.ts`).
 * 5. `recorder.ts` records the attempt and what follows from it (`../attempt/attempt-result.ts`, `../attempt/retry-policy.ts`), which may
 *    park the endpoint (`../endpoint-health/park-failing-endpoints.ts`) or switch it off (`../endpoint-health/auto-disable.ts`).
 * 6. `hand-over.ts` starts a workflow for the retries (`../temporal-retries/`): from then on they are the worker's.
 *
 * `sweeper.ts` looks regularly for what no step reports: rows that another process left, parked endpoints to probe, changed subscriptions.
 */
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import type { DispatchStore } from '../../store/webhooks/dispatch.ts';
import type { ClaimedDelivery, NewDelivery } from '../../store/webhooks/types.ts';
import type { Attempt } from '../attempt/attempt.ts';
import type { RecordAttempts } from '../attempt/record-attempts.ts';
import type { EndpointGate, EndpointHealthCache } from '../endpoint-health/endpoint-health-cache.ts';
import type { DeliveryMetrics } from '../metrics.ts';
import { isTest } from '../relay/plan-deliveries.ts';
import { Relay } from '../relay/relay.ts';
import type { EndpointDirectory } from '../subscriptions/directory.ts';
import type { RetryStarter } from '../temporal-retries/retry-starter.ts';
import { Attempter } from './attempter.ts';
import { Claimer } from './claimer.ts';
import { EndpointQueues } from './endpoint-queues.ts';
import { EndpointSlots } from './endpoint-slots.ts';
import { HandOver } from './hand-over.ts';
import { Recorder } from './recorder.ts';
import { DeliverySweeper } from './sweeper.ts';

export interface DispatcherOptions {
  readonly store: DispatchStore;
  readonly directory: EndpointDirectory;
  readonly health: EndpointHealthCache;
  readonly attempt: Attempt;
  readonly recordAttempts: RecordAttempts;
  readonly starter: RetryStarter;
  /** Called with the reason why retries cannot be handed over, and with undefined once they can. */
  readonly onRetriesAvailable: (reason: string | undefined) => void;
  readonly metrics: DeliveryMetrics;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
}

/** Deliveries that this process holds at most. */
const MOST_HELD = 1_024;

/** Retries of these get no workflow: they wait, or end. A parked endpoint gets its deliveries back from a workflow that got lost. */
const HOLDS_BACK: ReadonlySet<EndpointGate> = new Set<EndpointGate>(['paused', 'disabled']);

export class Dispatcher {
  readonly #slots = new EndpointSlots();
  readonly #queues: EndpointQueues;
  readonly #retries: HandOver;
  readonly #recorder: Recorder;
  readonly #attempter: Attempter;
  readonly #claimer: Claimer;
  readonly #relay: Relay;
  readonly #sweeper: DeliverySweeper;

  constructor(options: DispatcherOptions) {
    const { store, directory, health, attempt, recordAttempts, starter, onRetriesAvailable, metrics, clock, random, logger } = options;
    const slots = this.#slots;
    const { perEndpoint } = slots;
    const admitted = (uid: string): number => health.admitted(directory.byUid(uid), perEndpoint);
    const queues = new EndpointQueues({ clock, perEndpoint, mostHeld: MOST_HELD, admitted });
    health.onCleared((uid) => queues.due([uid]));
    // They are made from the last step to the first: each knows the next one.
    const retries = new HandOver({
      store,
      starter,
      waiting: () => directory.list().flatMap((endpoint) => (HOLDS_BACK.has(health.gate(endpoint)) ? [endpoint.uid] : [])),
      onAvailability: onRetriesAvailable,
      clock,
      logger,
    });
    const recorder = new Recorder({ store, recordAttempts, metrics, clock, logger });
    const attempter = new Attempter({ directory, health, attempt, queues, slots, recorder, retries, metrics, clock, random, logger });
    this.#queues = queues;
    this.#retries = retries;
    this.#recorder = recorder;
    this.#attempter = attempter;
    this.#claimer = new Claimer({ store, queues, attempter, clock, logger });
    this.#relay = new Relay({
      store,
      directory,
      gate: (endpoint) => health.gate(endpoint),
      takeHealth: (records) => health.take(records),
      // Where older deliveries wait, a new one waits behind them.
      reserve: ({ uid }, pastBreaker) =>
        (pastBreaker || !queues.isHot(uid)) && queues.reserve(uid, { pastBreaker }) ? attempter.leaseMs(uid) : undefined,
      unreserve: (uid) => queues.release(uid),
      onClaimed: (deliveries) => acceptNew(attempter, deliveries),
      onLeft: (uids) => queues.due(uids),
      onRelayed: (events) => metrics.relayed(events),
      clock,
      logger,
    });
    this.#sweeper = new DeliverySweeper({
      store,
      directory,
      health,
      queues,
      attempter,
      retries,
      onDeath: () => this.#relay.wake(),
      clock,
      random,
      logger,
    });
  }

  /** Requests on their way. */
  get inFlight(): number {
    return this.#slots.total;
  }

  /** Attempts that are not recorded yet. */
  get unrecorded(): number {
    return this.#recorder.size;
  }

  /** All deliveries that this process holds. */
  get held(): number {
    return this.#queues.held + this.#recorder.size;
  }

  start(): void {
    this.#relay.start();
    this.#claimer.start();
    this.#sweeper.start();
  }

  /** Stops claiming, finishes and records the attempts under way, and hands the rest back. */
  async stop(): Promise<void> {
    const swept = this.#sweeper.stop();
    // The attempter hands back what the others still bring.
    await Promise.all([this.#relay.stop(), this.#claimer.stop(), this.#attempter.stop()]);
    await Promise.all([this.#recorder.idle(), this.#attempter.recorded()]);
    await this.#retries.stop();
    await swept;
    await this.#attempter.stop();
    await this.#recorder.idle();
  }
}

/** Accepts deliveries that the relay claimed as it made them. */
function acceptNew(attempter: Attempter, deliveries: readonly NewDelivery[]): void {
  const leases = new Map(deliveries.map(({ planned: { subscriptionUid, leaseMs } }) => [subscriptionUid, leaseMs ?? 0]));
  const leaseMs = (uid: string): number => leases.get(uid) ?? 0;
  for (const [probe, some] of Map.groupBy(deliveries, ({ planned }) => isTest(planned.event)))
    attempter.accept(some.map(claimedOf), { leaseMs, probe });
}

function claimedOf({ id, planned: { event, subscriptionUid } }: NewDelivery): ClaimedDelivery {
  const { org, id: eventId, name: eventName, createdAt, body, traceparent } = event;
  return { id, org, eventId, eventName, subscriptionUid, attempts: 0, seriesStart: 0, createdAt, body, traceparent };
}
