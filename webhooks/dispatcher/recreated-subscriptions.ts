/**
 * Finds endpoints that are back under another uid: brought back from a backup, or taken into another cluster. They own what was to be sent to the
 * resource of that name, and what was sent. One that was seen to be deleted has no successor: a new one of its name starts from nothing.
 */
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import type { DispatchStore } from '../../store/index.ts';
import type { EndpointDirectory } from '../subscriptions/directory.ts';

export interface RecreatedSubscriptionsOptions {
  readonly store: Pick<DispatchStore, 'nameSubscriptions' | 'adoptDeliveries'>;
  readonly directory: Pick<EndpointDirectory, 'byUid' | 'list' | 'connected'>;
  /** Whether an endpoint was seen to go a moment ago. */
  readonly isLeaving: (uid: string) => boolean;
  /** Called when there is something to do for an endpoint. */
  readonly onAdopted: (uid: string) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How long the two uids have to differ, in milliseconds: one of two processes may have heard less of the API server than the other. */
const SETTLED_AFTER_MS = 10_000;

export class RecreatedSubscriptions {
  readonly #options: RecreatedSubscriptionsOptions;
  /** Uids whose names are written down. */
  #named = new Set<string>();
  /** When two uids of one name were first found, by the newer one, on the monotonic clock. */
  readonly #found = new Map<string, number>();

  constructor(options: RecreatedSubscriptionsOptions) {
    this.#options = options;
  }

  /** @throws StoreError */
  async look(): Promise<void> {
    const { store, directory, isLeaving, onAdopted, clock, logger } = this.#options;
    if (!directory.connected) return;
    const endpoints = directory.list();
    const differing = await store.nameSubscriptions(endpoints.filter(({ uid }) => !this.#named.has(uid)));
    const open = new Set(differing.map(({ uid }) => uid));
    this.#named = new Set(endpoints.flatMap(({ uid }) => (open.has(uid) ? [] : [uid])));
    for (const uid of this.#found.keys()) if (!open.has(uid)) this.#found.delete(uid);
    const now = clock.monotonic();
    for (const succession of differing) {
      const { org, kind, name, uid, formerUid } = succession;
      const since = this.#found.get(uid) ?? now;
      this.#found.set(uid, since);
      const endpoint = directory.byUid(uid);
      if (endpoint === undefined || now - since < SETTLED_AFTER_MS || isLeaving(formerUid) || directory.byUid(formerUid) !== undefined)
        continue;
      while (await store.adoptDeliveries({ ...succession, generation: endpoint.generation }));
      logger.info({ org, kind, name, uid, formerUid }, 'moved the deliveries of a subscription that is back under another uid');
      onAdopted(uid);
    }
  }
}
