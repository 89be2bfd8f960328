/** Makes the first attempt at each delivery that this process has claimed; each endpoint has its own queue, so that none waits for another. */
import { deliveryIdText } from '../../events/envelope.ts';
import type { ClaimedDelivery } from '../../store/webhooks/types.ts';
import { SHORT_RETRY_MS } from '../attempt/attempt-result.ts';
import { deliver, type Delivered, type Delivering, type Obstacle } from '../attempt/deliver.ts';
import type { EndpointGate, EndpointHealthCache } from '../endpoint-health/endpoint-health-cache.ts';
import type { Endpoint } from '../subscriptions/endpoint.ts';
import type { EndpointQueue, EndpointQueues, Held } from './endpoint-queues.ts';
import type { EndpointSlots } from './endpoint-slots.ts';
import type { HandOver } from './hand-over.ts';
import type { HandBack, Recorder } from './recorder.ts';

/** How long an endpoint receives nothing after a delivery was handed back, in milliseconds: the next one would fail in the same way. */
const BLOCKED_MS: Partial<Readonly<Record<HandBack, number>>> = { credentials: 5_000, local: 1_000 };

/** Reasons to hand back a delivery, by obstacle. */
const HAND_BACK: Readonly<Record<Obstacle, HandBack>> = {
  unknown_endpoint: 'unknown_endpoint',
  paused: 'closed_endpoint',
  disabled: 'closed_endpoint',
  parked: 'closed_endpoint',
  credentials: 'credentials',
  late: 'late',
  local: 'local',
};

export interface AttempterOptions extends Omit<Delivering, 'record'> {
  readonly health: Pick<EndpointHealthCache, 'gate' | 'admitted' | 'opened'>;
  readonly queues: EndpointQueues;
  readonly slots: EndpointSlots;
  readonly recorder: Pick<Recorder, 'size' | 'record' | 'handBack'>;
  readonly retries: Pick<HandOver, 'add'>;
}

/** How much longer a lease is than the endpoint's timeout, in milliseconds: for our own work before and after. */
const LEASE_SLACK_MS = 5_000;
/** An endpoint that takes longer than this receives no more than can be on its way to it, in milliseconds. */
const SLOW_MS = 100;

export class Attempter {
  readonly #options: AttempterOptions;
  readonly #delivering: Delivering;
  /** Queues with something in them, in the order of their turns. */
  readonly #queued = new Set<EndpointQueue>();
  /** Ids that this process holds: a delivery that comes in twice is sent once. */
  readonly #ids = new Set<string>();
  readonly #idle = new Set<() => void>();
  /** Work that follows from attempts that have ended. */
  readonly #following = new Set<Promise<void>>();
  #stopped = false;
  #pumpScheduled = false;

  constructor(options: AttempterOptions) {
    this.#options = options;
    const { recorder, logger } = options;
    // Lines of attempts have ids and numbers only: looking for secrets in each would cost more than all the rest of it.
    this.#delivering = { ...options, record: (result) => recorder.record(result), logger: logger.child({}, { redact: [] }) };
  }

  leaseMs(uid: string): number {
    return (this.#options.directory.byUid(uid)?.timeoutMs ?? LEASE_SLACK_MS) + LEASE_SLACK_MS;
  }

  /** Takes deliveries that {@link EndpointQueues.hold} counts already. `probe`: they are sent although their endpoint is parked. */
  accept(deliveries: readonly ClaimedDelivery[], { leaseMs, probe = false }: { leaseMs: (uid: string) => number; probe?: boolean }): void {
    const { queues, clock } = this.#options;
    const now = clock.monotonic();
    for (const delivery of deliveries) {
      const uid = delivery.subscriptionUid;
      if (this.#ids.has(delivery.id)) {
        queues.release(uid);
        continue;
      }
      this.#ids.add(delivery.id);
      const held: Held = { delivery, leaseEndsAt: now + leaseMs(uid), probe };
      if (this.#stopped) this.#handBack(held, 'stopping');
      else this.#queued.add(queues.enqueue(held));
    }
    this.#pump();
  }

  /** Hands back what has not been sent, and resolves when the requests on their way have ended. */
  async stop(): Promise<void> {
    const { queues, slots } = this.#options;
    this.#stopped = true;
    this.#queued.clear();
    for (const held of queues.clear()) this.#handBack(held, 'stopping');
    if (slots.total > 0) await new Promise<void>((resolve) => this.#idle.add(resolve));
  }

  /** Resolves once the attempts that have ended are recorded, and their retries in other hands. */
  async recorded(): Promise<void> {
    await Promise.all(this.#following);
  }

  /** Releases a delivery that is recorded or handed back, so that others may start. */
  #settled(id: string): void {
    this.#ids.delete(id);
    if (this.#pumpScheduled) return;
    this.#pumpScheduled = true;
    setImmediate(() => {
      this.#pumpScheduled = false;
      this.#pump();
    });
  }

  #pump(): void {
    const { directory, health, queues, slots, recorder } = this.#options;
    // A crash repeats attempts that are not recorded: they count as being on their way.
    const most = slots.inAll - recorder.size;
    for (const queued of this.#queued) {
      // If the endpoint is parked, all but the probe go back without an attempt.
      const limit = queued.queue.some(({ probe }) => probe)
        ? slots.perEndpoint
        : health.admitted(directory.byUid(queued.uid), slots.perEndpoint);
      // Deliveries that wait for an endpoint that receives nothing any more, or not now, go back at once.
      if (limit === 0 || queues.isBlocked(queued.uid)) {
        const why = queues.isBlocked(queued.uid)
          ? 'blocked'
          : directory.byUid(queued.uid) === undefined
            ? 'unknown_endpoint'
            : 'closed_endpoint';
        for (const held of queued.queue.splice(0)) this.#handBack(held, why);
      }
      while (queued.queue.length > 0 && slots.total < most && slots.take(queued.uid, { limit, answers: queued.answers })) {
        const held = queued.queue.shift();
        if (held !== undefined) void this.#send(held);
      }
      if (queued.queue.length === 0) this.#queued.delete(queued);
    }
  }

  async #send(held: Held): Promise<void> {
    const { queues, slots, logger } = this.#options;
    const { delivery, leaseEndsAt } = held;
    const uid = delivery.subscriptionUid;
    const gate = (endpoint: Endpoint) => this.#gate(endpoint, held);
    const end = await deliver({ delivery, leaseEndsAt, gate, keepsRetries: false }, this.#delivering).catch((err: unknown): Obstacle => {
      // It is a defect, which must not cost the others their delivery, nor this one its next chance.
      logger.error({ err, delivery: deliveryIdText(delivery.id) }, 'failed to attempt a delivery; trying again');
      return 'local';
    });
    slots.give(uid);
    if (typeof end === 'string') {
      const why = HAND_BACK[end];
      const blockMs = BLOCKED_MS[why];
      if (blockMs !== undefined) queues.block(uid, blockMs);
      this.#handBack(held, why);
    } else {
      const { outcome } = end;
      if (outcome.succeeded && outcome.durationMs <= SLOW_MS) queues.took(uid);
      else queues.narrow(uid);
      queues.release(uid);
      const following = this.#follow(end);
      this.#following.add(following);
      void following.finally(() => this.#following.delete(following));
    }
    this.#pump();
    if (queues.isHot(uid)) queues.wake();
    if (slots.total === 0) for (const resolve of this.#idle) resolve();
  }

  /** A probe goes out although its endpoint is parked. */
  #gate(endpoint: Endpoint, { probe }: Held): EndpointGate {
    const gate = this.#options.health.gate(endpoint);
    return probe && gate === 'parked' ? 'open' : gate;
  }

  /** Hands a delivery that is to be tried again to a workflow, or keeps it where the wait is short. */
  async #follow({ delivery, result: { next }, recorded }: Delivered): Promise<void> {
    const { retries, queues, clock } = this.#options;
    const state = await recorded;
    this.#settled(delivery.id);
    if (!('delayMs' in next)) return;
    const { id: deliveryId, org, eventId, subscriptionUid, traceparent } = delivery;
    if (state === 'retry_pending')
      retries.add([{ deliveryId, org, eventId, subscriptionUid, traceparent, lost: false, delayMs: next.delayMs }]);
    // The database's clock decides: a moment later it is due there, too.
    else if (state === 'pending' && next.delayMs < SHORT_RETRY_MS) clock.after(next.delayMs + 2, () => queues.due([subscriptionUid]));
  }

  #handBack({ delivery }: Held, why: HandBack): void {
    const { queues, recorder } = this.#options;
    queues.release(delivery.subscriptionUid);
    void recorder.handBack(delivery, why).then(() => this.#settled(delivery.id));
  }
}
