/** Attempts the deliveries that this process has claimed: each endpoint by itself, so that none waits for another. */
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import type { SpanReference } from '../../platform/telemetry/trace-context.ts';
import type { ClaimedDelivery } from '../../store/webhooks/types.ts';
import type { Attempt } from '../attempt/attempt.ts';
import type { FailedAttempt, SuccessfulAttempt } from '../attempt/outcome.ts';
import { attemptDelivery } from '../attempt/traced-attempt.ts';
import { deliveryIdText } from '../../events/envelope.ts';
import { CredentialsError } from '../subscriptions/credentials.ts';
import type { EndpointDirectory } from '../subscriptions/directory.ts';
import type { Endpoint } from '../subscriptions/endpoint.ts';
import type { EndpointBook } from './endpoint-book.ts';
import { Lanes, type Held, type Lane } from './lanes.ts';
import { Slots, type SlotsOptions } from './slots.ts';

/** An attempt that has ended. */
export interface Attempted {
  readonly delivery: ClaimedDelivery;
  readonly endpoint: Endpoint;
  readonly outcome: SuccessfulAttempt | FailedAttempt;
  /** Undefined where nothing is traced. */
  readonly span?: SpanReference | undefined;
}

/** Why a delivery goes back without an attempt. */
export type HandBack =
  | 'stopping'
  /** It has waited for its turn for so long that somebody else may be about to have it. */
  | 'late'
  /** Its endpoint isn't known here (yet). */
  | 'unknown_endpoint'
  /** Its endpoint was switched off, or is left alone. */
  | 'closed_endpoint'
  /** A Secret can't be had. */
  | 'credentials'
  /** A fault of this installation: DNS, its own network. */
  | 'local'
  /** One of the last two has just stopped another delivery to the same endpoint. */
  | 'blocked';

/** How long an endpoint gets nothing after a delivery was handed back, in milliseconds: the next one would fare the same. */
const blockedMs: Partial<Readonly<Record<HandBack, number>>> = { credentials: 5_000, local: 1_000 };

export interface DelivererOptions {
  readonly directory: Pick<EndpointDirectory, 'byUid' | 'credentials'>;
  readonly book: EndpointBook;
  readonly attempt: Attempt;
  readonly onAttempted: (attempted: Attempted) => void;
  readonly onHandedBack: (delivery: ClaimedDelivery, why: HandBack) => void;
  /** Attempts that are not written down yet. A crash makes them again, so that they count as being on their way. */
  readonly unrecorded: () => number;
  /** A place has become free for an endpoint for which there may be more. */
  readonly onRoom: () => void;
  readonly slots?: SlotsOptions;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** What a lease has beyond the time that the endpoint is given, in milliseconds: for our own work before and after. */
export const LEASE_SLACK_MS = 5_000;
/** What has to be left of it when the attempt begins. */
const LEAST_SLACK_MS = 1_000;
const MOST_HELD = 1_024;
/** An endpoint that takes longer than this gets no more than can be on its way to it, in milliseconds. */
const SLOW_MS = 100;

export class Deliverer {
  readonly lanes: Lanes;
  readonly #options: DelivererOptions;
  readonly #slots: Slots;
  /** Lanes with something in their queue, in the order of their turns. */
  readonly #queued = new Set<Lane>();
  /** Ids that this process holds: what comes in twice is sent once. */
  readonly #ids = new Set<string>();
  readonly #idle = new Set<() => void>();
  #stopped = false;

  constructor(options: DelivererOptions) {
    this.#options = options;
    this.#slots = new Slots(options.slots);
    const { perEndpoint } = this.#slots;
    this.lanes = new Lanes({
      clock: options.clock,
      perEndpoint,
      mostHeld: MOST_HELD,
      admitted: (uid) => this.#admitted(uid),
    });
  }

  /** Requests on their way. */
  get inFlight(): number {
    return this.#slots.total;
  }

  leaseMs(uid: string): number {
    return (this.#options.directory.byUid(uid)?.timeoutMs ?? LEASE_SLACK_MS) + LEASE_SLACK_MS;
  }

  /** Deliveries that are held already. `probe`: it is to be sent although its endpoint is left alone. */
  accept(deliveries: readonly ClaimedDelivery[], { leaseMs, probe = false }: { leaseMs: (uid: string) => number; probe?: boolean }): void {
    const now = this.#options.clock.monotonic();
    for (const delivery of deliveries) {
      const uid = delivery.subscriptionUid;
      if (this.#ids.has(delivery.id)) {
        this.lanes.release(uid);
        continue;
      }
      this.#ids.add(delivery.id);
      const held: Held = { delivery, leaseEndsAt: now + leaseMs(uid), probe };
      if (this.#stopped) this.#handBack(held, 'stopping');
      else this.#queued.add(this.lanes.enqueue(held));
    }
    this.#pump();
  }

  /** Hands back what hasn't been sent, and resolves when what is on its way has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#queued.clear();
    for (const held of this.lanes.clear()) this.#handBack(held, 'stopping');
    if (this.#slots.total > 0) await new Promise<void>((resolve) => this.#idle.add(resolve));
  }

  /** One that is at an end, or no longer this process's. */
  forget(id: string): void {
    this.#ids.delete(id);
  }

  /** Attempts were written down: others may begin. */
  wake(): void {
    this.#pump();
  }

  #pump(): void {
    const { unrecorded } = this.#options;
    const most = this.#slots.inAll - unrecorded();
    for (const lane of this.#queued) {
      // Where its endpoint is left alone, what isn't a probe goes back without an attempt.
      const limit = lane.queue.some(({ probe }) => probe) ? this.#slots.perEndpoint : this.#admitted(lane.uid);
      // What waits for an endpoint that gets nothing any more, or not now, goes back at once.
      if (limit === 0 || this.lanes.isBlocked(lane.uid)) {
        const why = this.lanes.isBlocked(lane.uid)
          ? 'blocked'
          : this.#options.directory.byUid(lane.uid) === undefined
            ? 'unknown_endpoint'
            : 'closed_endpoint';
        for (const held of lane.queue.splice(0)) this.#handBack(held, why);
      }
      while (lane.queue.length > 0 && this.#slots.total < most && this.#slots.take(lane.uid, { limit, answers: lane.answers })) {
        const held = lane.queue.shift();
        if (held !== undefined) void this.#send(held);
      }
      if (lane.queue.length === 0) this.#queued.delete(lane);
    }
  }

  /** How many may be on their way to an endpoint at once. */
  #admitted(uid: string): number {
    const { directory, book } = this.#options;
    const endpoint = directory.byUid(uid);
    return endpoint === undefined || book.gate(endpoint) !== 'open' ? 0 : book.admitted(uid, this.#slots.perEndpoint);
  }

  async #send(held: Held): Promise<void> {
    const uid = held.delivery.subscriptionUid;
    const end = await this.#attempt(held).catch((err: unknown): HandBack => {
      // A defect: it must not cost the others their delivery, nor this one its next chance.
      this.#options.logger.error(
        { err, delivery: deliveryIdText(held.delivery.id) },
        'a delivery could not be attempted; it is tried again',
      );
      return 'local';
    });
    this.#slots.give(uid);
    if (typeof end === 'string') {
      const blockMs = blockedMs[end];
      if (blockMs !== undefined) this.lanes.block(uid, blockMs);
      this.#handBack(held, end);
    } else {
      const { outcome } = end;
      if (outcome.succeeded && outcome.durationMs <= SLOW_MS) this.lanes.took(uid);
      else this.lanes.narrow(uid);
      this.lanes.release(uid);
      this.#options.onAttempted(end);
    }
    this.#pump();
    if (this.lanes.isHot(uid)) this.#options.onRoom();
    if (this.#slots.total === 0) for (const resolve of this.#idle) resolve();
  }

  async #attempt({ delivery, leaseEndsAt, probe }: Held): Promise<Attempted | HandBack> {
    const { directory, book, clock, attempt } = this.#options;
    const endpoint = directory.byUid(delivery.subscriptionUid);
    if (endpoint === undefined) return 'unknown_endpoint';
    const gate = book.gate(endpoint);
    if (gate !== 'open' && !(probe && gate === 'parked')) return 'closed_endpoint';
    let credentials;
    try {
      credentials = await directory.credentials(endpoint);
    } catch (error) {
      if (error instanceof CredentialsError) return 'credentials';
      throw error;
    }
    // It waited for too long: somebody else may have it before this attempt is recorded.
    if (leaseEndsAt - clock.monotonic() < endpoint.timeoutMs + LEAST_SLACK_MS) return 'late';
    const { outcome, span } = await attemptDelivery(attempt, { delivery, endpoint, credentials });
    if (!outcome.succeeded && outcome.ours) return 'local';
    return { delivery, endpoint, outcome, span };
  }

  #handBack({ delivery }: Held, why: HandBack): void {
    this.lanes.release(delivery.subscriptionUid);
    this.#options.onHandedBack(delivery, why);
  }
}
