/**
 * Ends what waits for endpoints that are gone, and forgets what was known of them: a subscription was deleted, an agent lost its address.
 * Nothing holds up the deletion itself: it may happen while no dispatcher runs, and is noticed by the next one.
 */
import type { Clock } from '../../platform/clock.ts';
import { liveStates, type DispatchStore } from '../../store/index.ts';
import type { EndpointDirectory } from '../subscriptions/directory.ts';

export interface DeletedSubscriptionsOptions {
  readonly store: Pick<DispatchStore, 'subscriptionsIn' | 'endpoints' | 'removeSubscription' | 'forgetName'>;
  readonly directory: Pick<EndpointDirectory, 'byUid' | 'connected'>;
  /** Called before the endpoint's deliveries end. */
  readonly onGone: (uid: string) => void;
  readonly clock: Clock;
}

/** An endpoint that is not known here for so long, in milliseconds, while changes arrive, is gone. */
const GONE_AFTER_MS = 60_000;
/**
 * How long rows may still appear for an endpoint that is gone, in milliseconds: from an attempt that was on its way, or a relay
 * that had not heard of it.
 */
const ECHO_MS = 120_000;
/** How often rows of endpoints are compared with the existing subscriptions, in milliseconds. */
const COMPARE_MS = 60_000;

export class DeletedSubscriptions {
  readonly #options: DeletedSubscriptionsOptions;
  /** When each endpoint was seen to go, by the monotonic clock. */
  readonly #gone = new Map<string, number>();
  /** When each endpoint was first found missing, by the monotonic clock. */
  readonly #missing = new Map<string, number>();
  #comparedAt = -Infinity;

  constructor(options: DeletedSubscriptionsOptions) {
    this.#options = options;
  }

  /** Removes an endpoint that was seen to go, so that nothing of its name is its successor. @throws StoreError */
  async left(uid: string): Promise<void> {
    this.#gone.set(uid, this.#options.clock.monotonic());
    await this.#options.store.forgetName(uid);
    await this.#remove(uid);
  }

  isLeaving(uid: string): boolean {
    return this.#gone.has(uid);
  }

  /** Finds subscriptions whose deletion this process missed, and rows that came after a deletion. @throws StoreError */
  async look(): Promise<void> {
    const { store, directory, clock } = this.#options;
    const now = clock.monotonic();
    const uids = new Set(await store.subscriptionsIn(liveStates));
    if (now - this.#comparedAt >= COMPARE_MS) {
      this.#comparedAt = now;
      for (const { subscriptionUid } of await store.endpoints()) uids.add(subscriptionUid);
    } else {
      for (const uid of this.#missing.keys()) uids.add(uid);
    }
    for (const [uid, at] of this.#gone) {
      if (directory.byUid(uid) !== undefined || now - at > ECHO_MS) this.#gone.delete(uid);
      else await this.#remove(uid);
    }
    for (const uid of this.#missing.keys()) if (!uids.has(uid) || directory.byUid(uid) !== undefined) this.#missing.delete(uid);
    for (const uid of uids) {
      if (directory.byUid(uid) !== undefined || this.#gone.has(uid)) continue;
      const since = this.#missing.get(uid) ?? now;
      // Without a connection to the API server deletions are unknown.
      this.#missing.set(uid, directory.connected ? since : now);
      if (directory.connected && now - since >= GONE_AFTER_MS) {
        this.#missing.delete(uid);
        // Its name stays known: if it comes back from a backup, it owns its deliveries again, and those that were not sent can be replayed.
        this.#gone.set(uid, now);
        await this.#remove(uid);
      }
    }
  }

  async #remove(uid: string): Promise<void> {
    this.#options.onGone(uid);
    while (await this.#options.store.removeSubscription(uid));
  }
}
