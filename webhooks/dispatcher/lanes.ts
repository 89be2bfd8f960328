/** What this process has taken on for each endpoint, and for whom more is to be fetched. */
import type { Clock } from '../../platform/clock.ts';
import type { ClaimedDelivery } from '../../store/webhooks/types.ts';
import { fairShare } from './slots.ts';

/** A delivery that this process may attempt. */
export interface Held {
  readonly delivery: ClaimedDelivery;
  /** By the monotonic clock: from then on somebody else may have it. */
  readonly leaseEndsAt: number;
  /** Sent to see whether its endpoint, which is left alone, takes anything again. */
  readonly probe: boolean;
}

export interface Lane {
  readonly uid: string;
  /** Waiting for a slot, oldest first. */
  readonly queue: Held[];
  /** Queued, on their way, or promised to the relay. */
  held: number;
  /** How many may be held at once: more for an endpoint that answers faster than rows can be fetched. */
  window: number;
  /** There may be due rows in Postgres. */
  hot: boolean;
  /** By the monotonic clock. */
  fetchedAt: number;
  /** Deliveries that were taken quickly since then. */
  taken: number;
  /** The last one was. */
  answers: boolean;
  /** By the monotonic clock: nothing is fetched or sent before. */
  blockedUntil: number;
}

/** Twice what is sent at once doubles a fast endpoint's throughput; more than this gains nothing. */
const WIDEST_WINDOW = 64;
/** Few rows at a time are fetched no more often than this, in milliseconds. */
const FETCH_PAUSE_MS = 10;

export interface LanesOptions {
  readonly clock: Clock;
  /** Smallest window. */
  readonly perEndpoint: number;
  /** Deliveries held at most, of all endpoints. */
  readonly mostHeld: number;
  /** How many may be on their way to an endpoint at once; 0: none. */
  readonly admitted: (uid: string) => number;
}

export class Lanes {
  readonly #options: LanesOptions;
  readonly #lanes = new Map<string, Lane>();
  #held = 0;

  constructor(options: LanesOptions) {
    this.#options = options;
  }

  get held(): number {
    return this.#held;
  }

  get(uid: string): Lane | undefined {
    return this.#lanes.get(uid);
  }

  /** How many more may be taken on for an endpoint. @param limit what its breaker lets through */
  room(uid: string, limit = this.#options.admitted(uid)): number {
    const { perEndpoint, mostHeld } = this.#options;
    const lane = this.#lanes.get(uid);
    if (this.isBlocked(uid)) return 0;
    const window = limit < perEndpoint ? limit : (lane?.window ?? perEndpoint);
    const share = fairShare({ total: this.#held, inAll: mostHeld, answers: lane?.answers ?? false });
    return Math.max(0, Math.min(Math.min(window, share) - (lane?.held ?? 0), mostHeld - this.#held));
  }

  /** Room for one; whoever asks afterwards finds less. @param options.pastBreaker however its endpoint fares */
  reserve(uid: string, { pastBreaker = false }: { readonly pastBreaker?: boolean } = {}): boolean {
    if ((pastBreaker ? this.room(uid, this.#options.perEndpoint) : this.room(uid)) === 0) return false;
    this.hold(uid);
    return true;
  }

  isBlocked(uid: string): boolean {
    const lane = this.#lanes.get(uid);
    return lane !== undefined && lane.blockedUntil > this.#options.clock.monotonic();
  }

  /** Nothing can be sent to it for the moment, for a reason that holds for all its deliveries: they needn't all be fetched to learn that. */
  block(uid: string, ms: number): void {
    const lane = this.#lane(uid);
    lane.blockedUntil = this.#options.clock.monotonic() + ms;
    lane.hot = true;
  }

  /** For one that is claimed already. */
  hold(uid: string): void {
    this.#lane(uid).held += 1;
    this.#held += 1;
  }

  /** What was reserved is over: delivered, handed back, or not needed. */
  release(uid: string): void {
    const lane = this.#lanes.get(uid);
    if (lane === undefined || lane.held === 0) throw new RangeError(`nothing is held for ${uid}`);
    lane.held -= 1;
    this.#held -= 1;
    this.#tidy(lane);
  }

  /** For what is held already. */
  enqueue(held: Held): Lane {
    const lane = this.#lane(held.delivery.subscriptionUid);
    lane.queue.push(held);
    return lane;
  }

  markHot(uid: string): void {
    this.#lane(uid).hot = true;
  }

  /** Its due rows are being asked for. Marked hot again meanwhile, it is asked for again. */
  cool(uid: string): void {
    const lane = this.#lanes.get(uid);
    if (lane !== undefined) lane.hot = false;
  }

  isHot(uid: string): boolean {
    return this.#lanes.get(uid)?.hot === true;
  }

  /**
   * For whom to fetch now, and how many, `most` in all: who was fetched for longest ago comes first. A lane that isn't half empty waits
   * a moment, so that rows are fetched by the handful.
   *
   * @returns `waitMs`: when to ask again if nothing happens before; undefined: not before something happens
   */
  toFetch(most: number): { readonly rooms: ReadonlyMap<string, number>; readonly waitMs: number | undefined } {
    const now = this.#options.clock.monotonic();
    const rooms = new Map<string, number>();
    // More than the most may be held: what the relay promised itself while rows were being fetched.
    let left = Math.max(0, Math.min(most, this.#options.mostHeld - this.#held));
    let waitMs: number | undefined;
    for (const lane of this.#lanes.values()) {
      if (!lane.hot) continue;
      const blocked = lane.blockedUntil - now;
      if (blocked > 0) {
        waitMs = Math.min(waitMs ?? blocked, blocked);
        continue;
      }
      const room = Math.min(this.room(lane.uid), left);
      if (room === 0) continue;
      const pause = lane.fetchedAt + FETCH_PAUSE_MS - now;
      if (room * 2 >= lane.window || pause <= 0) {
        rooms.set(lane.uid, room);
        left -= room;
      } else waitMs = Math.min(waitMs ?? pause, pause);
    }
    return { rooms, waitMs };
  }

  /** What fetching came to: an endpoint that has taken all it was sent by the time more came gets a wider window. */
  fetched(uid: string, { asked, got }: { readonly asked: number; readonly got: number }): void {
    const lane = this.#lane(uid);
    lane.fetchedAt = this.#options.clock.monotonic();
    // To the end of the row.
    this.#lanes.delete(uid);
    this.#lanes.set(uid, lane);
    const { taken } = lane;
    lane.taken = 0;
    if (got >= asked && lane.queue.length === 0 && taken * 2 >= lane.window) lane.window = Math.min(lane.window * 2, WIDEST_WINDOW);
    this.#tidy(lane);
  }

  /** It has taken a delivery, and quickly. */
  took(uid: string): void {
    const lane = this.#lanes.get(uid);
    if (lane === undefined) return;
    lane.taken += 1;
    lane.answers = true;
  }

  /** The endpoint is slow or fails: no more is taken on than can be on its way. */
  narrow(uid: string): void {
    const lane = this.#lanes.get(uid);
    if (lane === undefined) return;
    lane.window = this.#options.perEndpoint;
    lane.answers = false;
  }

  /** Empties every queue. @returns what was in them */
  clear(): readonly Held[] {
    return [...this.#lanes.values()].flatMap((lane) => lane.queue.splice(0));
  }

  #lane(uid: string): Lane {
    let lane = this.#lanes.get(uid);
    if (lane === undefined) {
      lane = {
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
      this.#lanes.set(uid, lane);
    }
    return lane;
  }

  #tidy(lane: Lane): void {
    if (lane.held === 0 && !lane.hot) this.#lanes.delete(lane.uid);
  }
}
