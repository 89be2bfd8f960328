/** Takes events out of the outbox, as soon as they are committed, and makes deliveries of them. */
import { backoffDelay } from '../../platform/backoff.ts';
import type { Clock } from '../../platform/clock.ts';
import { every } from '../../platform/every.ts';
import type { Logger } from '../../platform/logging.ts';
import type { DecideAboutEvents, DispatchStore } from '../../store/webhooks/dispatch.ts';
import type { EndpointRecord, NewDelivery, OutboxOrder, OutboxEvent } from '../../store/webhooks/types.ts';
import type { EndpointGate } from '../endpoint-health/endpoint-health-cache.ts';
import { Wake } from '../../platform/wake.ts';
import type { EndpointDirectory } from '../subscriptions/directory.ts';
import type { Endpoint } from '../subscriptions/endpoint.ts';
import { decide, disabledOf, type DeliveryPlan } from './plan-deliveries.ts';

export interface RelayOptions {
  readonly store: Pick<DispatchStore, 'takeOutbox' | 'listen'>;
  readonly directory: Pick<EndpointDirectory, 'matching' | 'behind'>;
  /** Returns the gate by the health that was last read; {@link takeHealth} gets what is read since. */
  readonly gate: (endpoint: Endpoint) => EndpointGate;
  readonly takeHealth: (records: readonly EndpointRecord[]) => void;
  /** Reserves a slot for one delivery until it is used or released. @returns the lease in milliseconds; undefined without a free slot */
  readonly reserve: (endpoint: Endpoint, pastBreaker: boolean) => number | undefined;
  readonly unreserve: (uid: string) => void;
  /** Called with deliveries that were claimed as they were made. */
  readonly onClaimed: (deliveries: readonly NewDelivery[]) => void;
  /** Called when there are deliveries that wait for a place. */
  readonly onLeft: (uids: ReadonlySet<string>) => void;
  readonly onRelayed: (events: number) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Most events at a time: enough to make a transaction worth its while. */
const BATCH = 128;
/** Notifications may be lost with their connection. */
const POLL_MS = 1_000;
/** Most deliveries that are made at a time: an event for thousands of endpoints is worth as many rows as thousands of events for one. */
const DELIVERIES_AT_ONCE = 2_000;
/** Most bytes of bodies in memory at a time, about. */
const BYTES_AT_ONCE = 16_777_216;
/** How long events wait at first for a subscription to become known here: usually it does within milliseconds. */
const BEHIND = { baseMs: 20, maxMs: 2_000, jitter: 0 } as const;
const RETRY = { intervalMs: 50, longestIntervalMs: 5_000 } as const;

export class Relay {
  readonly #options: RelayOptions;
  readonly #wake: Wake;
  readonly #stopping = new AbortController();
  /** How often the events of each organisation were put back in a row. */
  readonly #behind = new Map<string, number>();
  #batch = BATCH;
  /**
   * Events go by their age; while there is more than a batch in the outbox, every other time a few of each kind go: only the one who writes a
   * hundred thousand events at once waits for them to be relayed.
   */
  #order: OutboxOrder = 'age';
  #running: Promise<void> | undefined;

  constructor(options: RelayOptions) {
    this.#options = options;
    this.#wake = new Wake(options.clock);
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Looks into the outbox now. */
  wake(): void {
    this.#wake.call();
  }

  /** Resolves when nothing more is taken. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the relay stops'));
    this.#wake.call();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { store, logger, clock } = this.#options;
    const { signal } = this.#stopping;
    store.listen(() => this.wake());
    const failure = 'failed to relay events; they wait in the outbox';
    await every({ ...RETRY, clock, logger, failure, signal }, async () => {
      // The kinds whose turn it was may have had few events while very many wait.
      const full = (await this.#once()) || this.#order === 'turns';
      this.#order = full && this.#order === 'age' ? 'turns' : 'age';
      if (!full) await this.#wake.wait(POLL_MS);
      return 'again';
    });
  }

  /** @returns whether there may be more */
  async #once(): Promise<boolean> {
    const { store, takeHealth, onClaimed, onLeft, onRelayed } = this.#options;
    const reserved = new Reservations(this.#options.unreserve);
    let decision: DeliveryPlan | undefined;
    let bytes = 0;
    const limit = this.#batch;
    try {
      const take: DecideAboutEvents = async (events, currentHealth) => {
        decision = this.#decide(events, reserved);
        const disabled = disabledOf(decision);
        if (disabled.length > 0) {
          // An endpoint that was switched on again less than a second ago gets every event since.
          takeHealth(await currentHealth(disabled));
          decision = this.#decide(events, reserved);
        }
        bytes = events.reduce((sum, { body }) => sum + body.length, 0);
        return decision;
      };
      const result = await store.takeOutbox(limit, take, { order: this.#order });
      const claimed = result.deliveries.filter(({ planned }) => planned.leaseMs !== undefined);
      for (const { planned } of claimed) reserved.used(planned.subscriptionUid);
      onRelayed(result.taken);
      onClaimed(claimed);
      if (decision !== undefined) {
        onLeft(decision.left);
        this.#wakeFor(decision);
        this.#batch = nextBatch(decision.deliveries.length / Math.max(1, result.taken), bytes / Math.max(1, result.taken));
      }
      return result.taken + result.postponed >= limit;
    } finally {
      // Deliveries with a reservation left were there before: the process that made them has claimed them.
      reserved.giveBack();
    }
  }

  #decide(events: readonly OutboxEvent[], reserved: Reservations): DeliveryPlan {
    const { directory, gate, reserve } = this.#options;
    // Asked again after a lost connection, or on newer health: what was promised to the former answer is free again.
    reserved.giveBack();
    return decide(events, {
      directory,
      gate,
      behindDelayMs: (org) => backoffDelay((this.#behind.get(org) ?? 0) + 1, BEHIND),
      reserve: (endpoint, pastBreaker) => {
        const leaseMs = reserve(endpoint, pastBreaker);
        if (leaseMs !== undefined) reserved.add(endpoint.uid);
        return leaseMs;
      },
    });
  }

  #wakeFor({ behind, postponed }: DeliveryPlan): void {
    const { clock, logger } = this.#options;
    const orgs = new Set(behind.map(({ org }) => org));
    for (const org of this.#behind.keys()) if (!orgs.has(org)) this.#behind.delete(org);
    for (const org of orgs) {
      const times = (this.#behind.get(org) ?? 0) + 1;
      this.#behind.set(org, times);
      if (times === 10) logger.warn({ org }, 'events wait for a subscription that was written, but is not known here yet');
    }
    for (const delayMs of new Set(postponed.map((one) => one.delayMs))) clock.after(delayMs + 1, () => this.#wake.call());
  }
}

/** Returns how many events to take next, going by how many deliveries and bytes one of the last made. */
const nextBatch = (deliveries: number, bytes: number): number =>
  Math.max(1, Math.floor(Math.min(BATCH, DELIVERIES_AT_ONCE / Math.max(1, deliveries), BYTES_AT_ONCE / Math.max(1, bytes))));

/** Places that were promised to deliveries which may never come to be. */
class Reservations {
  readonly #counts = new Map<string, number>();
  readonly #unreserve: (uid: string) => void;

  constructor(unreserve: (uid: string) => void) {
    this.#unreserve = unreserve;
  }

  add(uid: string): void {
    this.#counts.set(uid, (this.#counts.get(uid) ?? 0) + 1);
  }

  used(uid: string): void {
    this.#counts.set(uid, (this.#counts.get(uid) ?? 0) - 1);
  }

  giveBack(): void {
    for (const [uid, count] of this.#counts) for (let left = count; left > 0; left -= 1) this.#unreserve(uid);
    this.#counts.clear();
  }
}
