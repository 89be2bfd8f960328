/** How many requests may be on their way: at most so many to one endpoint, and so many in all. */

export interface SlotsOptions {
  /** 8 by default. */
  readonly perEndpoint?: number;
  /** 256 by default. */
  readonly inAll?: number;
}

export class Slots {
  readonly perEndpoint: number;
  readonly inAll: number;
  readonly #taken = new Map<string, number>();
  #total = 0;

  constructor({ perEndpoint = 8, inAll = 256 }: SlotsOptions = {}) {
    this.perEndpoint = perEndpoint;
    this.inAll = inAll;
  }

  get total(): number {
    return this.#total;
  }

  of(uid: string): number {
    return this.#taken.get(uid) ?? 0;
  }

  /**
   * Takes a slot, where there is one: nobody may have more than a quarter of what is left free. So endpoints that hang, however
   * many they are, fill the slots up to a rest that stays for those who answer.
   *
   * @param limit of this endpoint at this time; never more than `perEndpoint`
   */
  take(uid: string, limit = this.perEndpoint): boolean {
    const taken = this.of(uid);
    const share = Math.ceil((this.inAll - this.#total) / 4);
    if (taken >= Math.min(limit, this.perEndpoint, share)) return false;
    this.#taken.set(uid, taken + 1);
    this.#total += 1;
    return true;
  }

  give(uid: string): void {
    const taken = this.of(uid);
    if (taken === 0) throw new RangeError(`no slot is taken for ${uid}`);
    if (taken === 1) this.#taken.delete(uid);
    else this.#taken.set(uid, taken - 1);
    this.#total -= 1;
  }
}
