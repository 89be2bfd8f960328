/** Reads and writes claims of numbers in Postgres; caches which ones are held, because only the leader claims. */
import type { NumberOwner, Store } from '../../store/index.ts';
import type { PostgresOutage, Unavailable } from '../runtime/postgres-outage.ts';
import type { ClaimView } from './ownership.ts';

export interface NumberClaimCacheOptions {
  readonly store: Pick<Store, 'numberClaims'>;
  readonly outage: PostgresOutage;
  /** How long a number is reserved for its organisation, in milliseconds. */
  readonly reservedMs: number;
}

export class NumberClaimCache {
  readonly #options: NumberClaimCacheOptions;
  /** Uids of the PhoneNumbers whose claim is known to hold. */
  readonly #held = new Set<string>();

  constructor(options: NumberClaimCacheOptions) {
    this.#options = options;
  }

  async view({ org, uid, number }: NumberOwner): Promise<ClaimView> {
    const { store, outage, reservedMs } = this.#options;
    if (this.#held.has(uid) && outage.why === undefined) return { state: 'known', claim: { org, uid, expired: false } };
    return outage.guard<ClaimView>(async () => {
      const claim = await store.numberClaims.get(number, { reservedMs });
      return { state: 'known', ...(claim && { claim }) };
    });
  }

  /** @returns whether the owner has the number now; otherwise the next view says why not */
  async claim(owner: NumberOwner, assignees: readonly string[] | undefined): Promise<boolean> {
    const { store, outage, reservedMs } = this.#options;
    const claimed = await outage.guard(async () => store.numberClaims.claim(owner, { reservedMs, assignees }));
    if (claimed === true) this.#held.add(owner.uid);
    return claimed === true;
  }

  async release(owner: NumberOwner): Promise<void | Unavailable> {
    this.#held.delete(owner.uid);
    return this.#options.outage.guard(async () => this.#options.store.numberClaims.release(owner));
  }

  /** Whether this installation knows that the PhoneNumber had the number and is gone; false while Postgres is unavailable. */
  async isGone({ uid, number }: Pick<NumberOwner, 'uid' | 'number'>): Promise<boolean> {
    const { store, outage, reservedMs } = this.#options;
    const gone = await outage.guard(async () => {
      const claim = await store.numberClaims.get(number, { reservedMs });
      return claim?.uid === uid && claim.reservedUntil !== undefined;
    });
    return gone === true;
  }

  /** Releases as `NumberClaims.releaseOthers` does; nothing while Postgres is unavailable. */
  async releaseOthers(living: readonly string[], within?: string): Promise<readonly string[]> {
    const released = await this.#options.outage.guard(async () => this.#options.store.numberClaims.releaseOthers(living, within));
    return 'state' in released ? [] : released;
  }

  /** Forgets everything, because another process may have written. */
  clear(): void {
    this.#held.clear();
  }
}
