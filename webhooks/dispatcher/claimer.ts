/** Claims due deliveries in Postgres for endpoints that have room. */
import type { Clock } from '../../platform/clock.ts';
import { every } from '../../platform/every.ts';
import type { Logger } from '../../platform/logging.ts';
import type { DispatchStore } from '../../store/webhooks/dispatch.ts';
import type { Attempter } from './attempter.ts';
import type { EndpointQueues } from './endpoint-queues.ts';

export interface ClaimerOptions {
  readonly store: Pick<DispatchStore, 'claim'>;
  readonly queues: EndpointQueues;
  readonly attempter: Pick<Attempter, 'accept' | 'leaseMs'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Most deliveries that are claimed at a time. */
const BATCH = 256;
const POLL_MS = 1_000;
/** Wait after a failure, doubled with each further one, in milliseconds. */
const RETRY_MS = 50;
const LONGEST_RETRY_MS = 5_000;

export class Claimer {
  readonly #options: ClaimerOptions;
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;

  constructor(options: ClaimerOptions) {
    this.#options = options;
  }

  start(): void {
    const { queues, clock, logger } = this.#options;
    const failure = 'failed to claim due deliveries; they wait in Postgres';
    const { signal } = this.#stopping;
    this.#running ??= every({ intervalMs: RETRY_MS, longestIntervalMs: LONGEST_RETRY_MS, clock, logger, failure, signal }, async () => {
      const { rooms, waitMs } = queues.toClaim(BATCH);
      if (rooms.size > 0) await this.#claim(rooms);
      else await queues.wait(waitMs ?? POLL_MS);
      return 'again';
    });
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the claimer stops'));
    this.#options.queues.wake();
    await this.#running;
  }

  async #claim(rooms: ReadonlyMap<string, number>): Promise<void> {
    const { store, queues, attempter } = this.#options;
    // An endpoint that is marked during the query is asked for again.
    for (const uid of rooms.keys()) queues.cool(uid);
    const leases = new Map([...rooms.keys()].map((uid) => [uid, attempter.leaseMs(uid)]));
    const leaseMs = (uid: string): number => leases.get(uid) ?? attempter.leaseMs(uid);
    let claimed;
    try {
      claimed = await store.claim(rooms, leaseMs, BATCH);
    } catch (error) {
      for (const uid of rooms.keys()) queues.markHot(uid);
      throw error;
    }
    const got = new Map<string, number>();
    for (const { subscriptionUid: uid } of claimed) {
      queues.hold(uid);
      got.set(uid, (got.get(uid) ?? 0) + 1);
    }
    for (const [uid, asked] of rooms) {
      const count = got.get(uid) ?? 0;
      if (count >= asked) queues.markHot(uid);
      queues.fetched(uid, { asked, got: count });
    }
    attempter.accept(claimed, { leaseMs });
  }
}
