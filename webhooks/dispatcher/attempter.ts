/** Makes the first attempt at each delivery that this process has claimed; each endpoint has its own queue, so that none waits for another. */
import { deliveryIdText } from '../../events/envelope.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import type { ClaimedDelivery } from '../../store/webhooks/types.ts';
import type { Attempt } from '../attempt/attempt.ts';
import type { Attempted } from '../attempt/log-attempt.ts';
import { attemptDelivery } from '../attempt/traced-attempt.ts';
import type { EndpointHealthCache } from '../endpoint-health/endpoint-health-cache.ts';
import { DeliverySecretError } from '../subscriptions/credentials.ts';
import type { EndpointDirectory } from '../subscriptions/directory.ts';
import type { EndpointQueue, EndpointQueues, Held } from './endpoint-queues.ts';
import type { EndpointSlots } from './endpoint-slots.ts';
import type { HandBack, Recorder } from './recorder.ts';

/** How long an endpoint receives nothing after a delivery was handed back, in milliseconds: the next one would fail in the same way. */
const BLOCKED_MS: Partial<Readonly<Record<HandBack, number>>> = { credentials: 5_000, local: 1_000 };

export interface AttempterOptions {
  readonly directory: Pick<EndpointDirectory, 'byUid' | 'credentials'>;
  readonly health: Pick<EndpointHealthCache, 'gate' | 'admitted' | 'opened'>;
  readonly attempt: Attempt;
  readonly queues: EndpointQueues;
  readonly slots: EndpointSlots;
  readonly recorder: Pick<Recorder, 'size' | 'record' | 'handBack'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How much longer a lease is than the endpoint's timeout, in milliseconds: for our own work before and after. */
const LEASE_SLACK_MS = 5_000;
/** How much of it has to be left when the attempt begins, in milliseconds. */
const LEAST_SLACK_MS = 1_000;
/** An endpoint that takes longer than this receives no more than can be on its way to it, in milliseconds. */
const SLOW_MS = 100;

export class Attempter {
  readonly #options: AttempterOptions;
  /** Queues with something in them, in the order of their turns. */
  readonly #queued = new Set<EndpointQueue>();
  /** Ids that this process holds: a delivery that comes in twice is sent once. */
  readonly #ids = new Set<string>();
  readonly #idle = new Set<() => void>();
  #stopped = false;
  #pumpScheduled = false;

  constructor(options: AttempterOptions) {
    this.#options = options;
  }

  leaseMs(uid: string): number {
    return (this.#options.directory.byUid(uid)?.timeoutMs ?? LEASE_SLACK_MS) + LEASE_SLACK_MS;
  }

  /** Takes deliveries that {@link EndpointQueues.hold} counts already. `probe`: sent although its endpoint is parked. */
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

  /** The delivery is recorded or handed back: this process has released it, and others may start. */
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
      // Of a parked endpoint all but the probe goes back without an attempt.
      const limit = queued.queue.some(({ probe }) => probe)
        ? slots.perEndpoint
        : health.admitted(directory.byUid(queued.uid), slots.perEndpoint);
      // What waits for an endpoint that receives nothing any more, or not now, goes back at once.
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
    const { queues, slots, recorder, logger } = this.#options;
    const uid = held.delivery.subscriptionUid;
    const end = await this.#attempt(held).catch((err: unknown): HandBack => {
      // A defect: it must not cost the others their delivery, nor this one its next chance.
      logger.error({ err, delivery: deliveryIdText(held.delivery.id) }, 'failed to attempt a delivery; trying again');
      return 'local';
    });
    slots.give(uid);
    if (typeof end === 'string') {
      const blockMs = BLOCKED_MS[end];
      if (blockMs !== undefined) queues.block(uid, blockMs);
      this.#handBack(held, end);
    } else {
      const { outcome } = end;
      if (outcome.succeeded && outcome.durationMs <= SLOW_MS) queues.took(uid);
      else queues.narrow(uid);
      queues.release(uid);
      void recorder.record(end).then(() => this.#settled(held.delivery.id));
    }
    this.#pump();
    if (queues.isHot(uid)) queues.wake();
    if (slots.total === 0) for (const resolve of this.#idle) resolve();
  }

  async #attempt({ delivery, leaseEndsAt, probe }: Held): Promise<Attempted | HandBack> {
    const { directory, health, clock, attempt } = this.#options;
    const endpoint = directory.byUid(delivery.subscriptionUid);
    if (endpoint === undefined) return 'unknown_endpoint';
    const gate = health.gate(endpoint);
    if (gate !== 'open' && !(probe && gate === 'parked')) return 'closed_endpoint';
    let credentials;
    try {
      credentials = await directory.credentials(endpoint);
    } catch (error) {
      if (error instanceof DeliverySecretError) return 'credentials';
      throw error;
    }
    // It waited too long: another process may claim it before this attempt is recorded.
    if (leaseEndsAt - clock.monotonic() < endpoint.timeoutMs + LEAST_SLACK_MS) return 'late';
    const opened = health.opened(endpoint.uid);
    const { outcome, span } = await attemptDelivery(attempt, { delivery, endpoint, credentials });
    if (!outcome.succeeded && outcome.ours) return 'local';
    return { delivery, endpoint, outcome, opened, span };
  }

  #handBack({ delivery }: Held, why: HandBack): void {
    const { queues, recorder } = this.#options;
    queues.release(delivery.subscriptionUid);
    void recorder.handBack(delivery, why).then(() => this.#settled(delivery.id));
  }
}
