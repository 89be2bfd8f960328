/** Fetches due deliveries from Postgres for endpoints that have room. */
import { sleep, type Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import type { DispatchStore } from '../../store/webhooks/dispatch.ts';
import type { Deliverer } from './deliverer.ts';
import { Wake } from './wake.ts';

export interface FetcherOptions {
  readonly store: Pick<DispatchStore, 'claim'>;
  readonly deliverer: Deliverer;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Deliveries at a time. */
const BATCH = 256;
const POLL_MS = 1_000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

export class Fetcher {
  readonly #options: FetcherOptions;
  readonly #wake: Wake;
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;

  constructor(options: FetcherOptions) {
    this.#options = options;
    this.#wake = new Wake(options.clock);
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** There may be due deliveries for these endpoints. */
  due(uids: Iterable<string>): void {
    for (const uid of uids) this.#options.deliverer.lanes.markHot(uid);
    this.#wake.call();
  }

  /** There is room again. */
  wake(): void {
    this.#wake.call();
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the fetcher stops'));
    this.#wake.call();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { deliverer, logger, clock } = this.#options;
    const { signal } = this.#stopping;
    for (let failures = 0; !signal.aborted;) {
      const { rooms, waitMs } = deliverer.lanes.toFetch(BATCH);
      if (rooms.size === 0) {
        await this.#wake.wait(waitMs ?? POLL_MS);
        continue;
      }
      try {
        await this.#fetch(rooms);
        failures = 0;
      } catch (err) {
        const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** Math.min(failures, 10), LONGEST_PAUSE_MS);
        if (failures === 0) logger.warn({ err, pauseMs }, 'due deliveries are not fetched; they wait in Postgres');
        failures += 1;
        await sleep(clock, pauseMs, signal).catch(() => undefined);
      }
    }
  }

  async #fetch(rooms: ReadonlyMap<string, number>): Promise<void> {
    const { store, deliverer } = this.#options;
    const { lanes } = deliverer;
    // Marked anew while the question is under way, it is asked again.
    for (const uid of rooms.keys()) lanes.cool(uid);
    const leases = new Map([...rooms.keys()].map((uid) => [uid, deliverer.leaseMs(uid)]));
    const leaseMs = (uid: string): number => leases.get(uid) ?? deliverer.leaseMs(uid);
    let claimed;
    try {
      claimed = await store.claim(rooms, leaseMs, BATCH);
    } catch (error) {
      for (const uid of rooms.keys()) lanes.markHot(uid);
      throw error;
    }
    const got = new Map<string, number>();
    for (const { subscriptionUid: uid } of claimed) {
      lanes.hold(uid);
      got.set(uid, (got.get(uid) ?? 0) + 1);
    }
    for (const [uid, asked] of rooms) {
      const count = got.get(uid) ?? 0;
      if (count >= asked) lanes.markHot(uid);
      lanes.fetched(uid, { asked, got: count });
    }
    deliverer.accept(claimed, { leaseMs });
  }
}
