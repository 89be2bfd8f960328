/** The deliveries that this process holds for each endpoint, and the endpoints for which it is to claim more. */
import type { Clock } from '../../platform/clock.ts';
import type { ClaimedDelivery } from '../../store/webhooks/types.ts';
import { Wake } from '../../platform/wake.ts';
import { fairShare } from './endpoint-slots.ts';

/** A delivery that this process may attempt. */
export interface Held {
  readonly delivery: ClaimedDelivery;
  /** End of the lease, by the monotonic clock: from then on another process may claim the delivery. */
  readonly leaseEndsAt: number;
  /** The delivery is sent to see whether its parked endpoint works again. */
  readonly probe: boolean;
}

export interface EndpointQueue {
  readonly uid: string;
  /** Deliveries that wait for a slot, oldest first. */
  readonly queue: Held[];
  /** Number of deliveries that are queued, on their way, or promised to the relay. */
  held: number;
  /** How many deliveries may be held at once: more for an endpoint that answers faster than rows can be fetched. */
  window: number;
  /** There may be due rows in Postgres. */
  hot: boolean;
  /** Time of the last fetch, by the monotonic clock. */
  fetchedAt: number;
  /** Deliveries that were taken quickly since the last fetch. */
  taken: number;
  /** The endpoint took its last delivery quickly. */
  answers: boolean;
  /** Time before which nothing is fetched or sent, by the monotonic clock. */
  blockedUntil: number;
}

/** Twice the concurrent attempts double a fast endpoint's throughput; more gains nothing. */
const WIDEST_WINDOW = 64;
/** Few rows at a time are fetched no more often than this, in milliseconds. */
const CLAIM_PAUSE_MS = 10;

export interface EndpointQueuesOptions {
  readonly clock: Clock;
  /** Smallest window. */
  readonly perEndpoint: number;
  /** Most deliveries held, of all endpoints. */
  readonly mostHeld: number;
  /** How many deliveries may be on their way to an endpoint at once; 0: none. */
  readonly admitted: (uid: string) => number;
}

export class EndpointQueues {
  readonly #options: EndpointQueuesOptions;
  readonly #queues = new Map<string, EndpointQueue>();
  readonly #wake: Wake;
  #held = 0;

  constructor(options: EndpointQueuesOptions) {
    this.#options = options;
    this.#wake = new Wake(options.clock);
  }

  get held(): number {
    return this.#held;
  }

  /** Returns how many more deliveries may be taken on for an endpoint. @param limit what its breaker lets through */
  room(uid: string, limit = this.#options.admitted(uid)): number {
    const { perEndpoint, mostHeld } = this.#options;
    const entry = this.#queues.get(uid);
    if (this.isBlocked(uid)) return 0;
    const window = limit < perEndpoint ? limit : (entry?.window ?? perEndpoint);
    const share = fairShare({ total: this.#held, inAll: mostHeld, answers: entry?.answers ?? false });
    return Math.max(0, Math.min(Math.min(window, share) - (entry?.held ?? 0), mostHeld - this.#held));
  }

  /** Reserves room for one delivery; the next caller finds less. @param options.pastBreaker reserves it however the endpoint fares */
  reserve(uid: string, { pastBreaker = false }: { readonly pastBreaker?: boolean } = {}): boolean {
    if ((pastBreaker ? this.room(uid, this.#options.perEndpoint) : this.room(uid)) === 0) return false;
    this.hold(uid);
    return true;
  }

  isBlocked(uid: string): boolean {
    const entry = this.#queues.get(uid);
    return entry !== undefined && entry.blockedUntil > this.#options.clock.monotonic();
  }

  /** Blocks an endpoint whose deliveries all can't be sent for the moment, for one reason: they needn't all be fetched to learn that. */
  block(uid: string, ms: number): void {
    const entry = this.#entry(uid);
    entry.blockedUntil = this.#options.clock.monotonic() + ms;
    entry.hot = true;
  }

  /** Counts a delivery that is claimed already. */
  hold(uid: string): void {
    this.#entry(uid).held += 1;
    this.#held += 1;
  }

  /** Releases a reservation: delivered, handed back, or not needed. */
  release(uid: string): void {
    const entry = this.#queues.get(uid);
    if (entry === undefined || entry.held === 0) throw new RangeError(`nothing is held for ${uid}`);
    entry.held -= 1;
    this.#held -= 1;
    this.#tidy(entry);
  }

  /** Queues a delivery that is held already. */
  enqueue(held: Held): EndpointQueue {
    const entry = this.#entry(held.delivery.subscriptionUid);
    entry.queue.push(held);
    return entry;
  }

  /** Has the claimer ask for deliveries of these endpoints, which may be due. */
  due(uids: Iterable<string>): void {
    for (const uid of uids) this.markHot(uid);
    this.wake();
  }

  /** Has the claimer look again, because there may be room. */
  wake(): void {
    this.#wake.call();
  }

  /** Resolves when there may be something to claim, or after `ms` milliseconds. */
  wait(ms: number): Promise<void> {
    return this.#wake.wait(ms);
  }

  markHot(uid: string): void {
    this.#entry(uid).hot = true;
  }

  /** Call it when an endpoint's due rows are asked for: if it is marked hot again meanwhile, they are asked for again. */
  cool(uid: string): void {
    const entry = this.#queues.get(uid);
    if (entry !== undefined) entry.hot = false;
  }

  isHot(uid: string): boolean {
    return this.#queues.get(uid)?.hot === true;
  }

  /**
   * Returns for which endpoints to fetch now, and how many deliveries, `most` in all: the one fetched for longest ago comes first. An entry
   * that isn't half empty waits a moment, so that rows are fetched by the handful.
   *
   * @returns `waitMs`: when to ask again if nothing happens before; undefined: not before something happens
   */
  toClaim(most: number): { readonly rooms: ReadonlyMap<string, number>; readonly waitMs: number | undefined } {
    const now = this.#options.clock.monotonic();
    const rooms = new Map<string, number>();
    // More than the most may be held: what the relay promised itself while rows were being fetched.
    let left = Math.max(0, Math.min(most, this.#options.mostHeld - this.#held));
    let waitMs: number | undefined;
    for (const entry of this.#queues.values()) {
      if (!entry.hot) continue;
      const blocked = entry.blockedUntil - now;
      if (blocked > 0) {
        waitMs = Math.min(waitMs ?? blocked, blocked);
        continue;
      }
      const room = Math.min(this.room(entry.uid), left);
      if (room === 0) continue;
      const pause = entry.fetchedAt + CLAIM_PAUSE_MS - now;
      if (room * 2 >= entry.window || pause <= 0) {
        rooms.set(entry.uid, room);
        left -= room;
      } else waitMs = Math.min(waitMs ?? pause, pause);
    }
    return { rooms, waitMs };
  }

  /** Takes the result of a fetch: an endpoint whose queue was empty before more arrived gets a wider window. */
  fetched(uid: string, { asked, got }: { readonly asked: number; readonly got: number }): void {
    const entry = this.#entry(uid);
    entry.fetchedAt = this.#options.clock.monotonic();
    // The endpoint goes to the end of the row.
    this.#queues.delete(uid);
    this.#queues.set(uid, entry);
    const { taken } = entry;
    entry.taken = 0;
    if (got >= asked && entry.queue.length === 0 && taken * 2 >= entry.window) entry.window = Math.min(entry.window * 2, WIDEST_WINDOW);
    this.#tidy(entry);
  }

  /** Records that the endpoint took a delivery quickly. */
  took(uid: string): void {
    const entry = this.#queues.get(uid);
    if (entry === undefined) return;
    entry.taken += 1;
    entry.answers = true;
  }

  /** Narrows the window of an endpoint that is slow or fails: no more is taken on than can be on its way. */
  narrow(uid: string): void {
    const entry = this.#queues.get(uid);
    if (entry === undefined) return;
    entry.window = this.#options.perEndpoint;
    entry.answers = false;
  }

  /** Empties every queue. @returns the deliveries that were in them */
  clear(): readonly Held[] {
    return [...this.#queues.values()].flatMap((entry) => entry.queue.splice(0));
  }

  #entry(uid: string): EndpointQueue {
    let entry = this.#queues.get(uid);
    if (entry === undefined) {
      entry = {
        uid,
        queue: [],
        held: 0,
        window: this.#options.perEndpoint,
        hot: false,
        fetchedAt: -Infinity,
        taken: 0,
        answers: false,
        blockedUntil: -Infinity,
      };
      this.#queues.set(uid, entry);
    }
    return entry;
  }

  #tidy(entry: EndpointQueue): void {
    if (entry.held === 0 && !entry.hot) this.#queues.delete(entry.uid);
  }
}
