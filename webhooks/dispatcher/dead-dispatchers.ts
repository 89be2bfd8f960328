/** Takes over what a dispatcher had claimed when it died, without waiting for its claims to run out. */
import type { Logger } from '../../platform/logging.ts';
import type { DispatchStore } from '../../store/webhooks/dispatch.ts';

export interface DeadDispatchersOptions {
  readonly store: Pick<DispatchStore, 'claimOwners' | 'freeClaims'>;
  /** Called when a dispatcher has died, with the subscriptions whose deliveries are due again. */
  readonly onDeath: (uids: readonly string[]) => void;
  readonly logger: Logger;
}

/**
 * An owner of claims is dead when two looks in a row have missed it: a session that broke off comes back in between. The second look of all
 * also takes over from those who died before the first.
 */
export class DeadDispatchers {
  readonly #options: DeadDispatchersOptions;
  /** What the last two looks saw, the newest first. */
  #seen: readonly ReadonlySet<number>[] = [];
  #isNew = true;

  constructor(options: DeadDispatchersOptions) {
    this.#options = options;
  }

  async look(): Promise<void> {
    const { store, onDeath, logger } = this.#options;
    const [last, before] = this.#seen;
    // After a look that fails owners are learnt anew.
    this.#seen = [];
    const owners = await store.claimOwners();
    if (owners === undefined) return;
    if (last !== undefined && (this.#isNew || [...(before ?? [])].some((owner) => !last.has(owner) && !owners.has(owner)))) {
      const freed = await store.freeClaims(last);
      this.#isNew = false;
      if (freed.length > 0) logger.info({ subscriptions: freed.length }, 'took over the deliveries of a dispatcher that is gone');
      onDeath(freed);
    }
    this.#seen = last === undefined ? [owners] : [owners, last];
  }
}
