/** Limits the requests on their way: to one endpoint, and in all. */

export interface EndpointSlotsOptions {
  /** 8 by default. */
  readonly perEndpoint?: number;
  /** 256 by default. */
  readonly inAll?: number;
}

/**
 * Returns how much of something that is shared one endpoint may have, so that those that hang, however many they are, leave a part to the
 * others: one that has answered lately may have all that is left. Another one may have as much only while less than half is given away, and
 * then just one, with which to show that it answers.
 */
export function fairShare({
  total,
  inAll,
  answers,
}: {
  readonly total: number;
  readonly inAll: number;
  readonly answers: boolean;
}): number {
  if (total >= inAll) return 0;
  if (answers || total < inAll / 2) return Infinity;
  return total < (inAll * 7) / 8 ? 1 : 0;
}

export class EndpointSlots {
  readonly perEndpoint: number;
  readonly inAll: number;
  readonly #taken = new Map<string, number>();
  #total = 0;

  constructor({ perEndpoint = 8, inAll = 256 }: EndpointSlotsOptions = {}) {
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
   * Takes a slot, where there is one.
   *
   * @param options.limit the endpoint's limit at this time; never more than `perEndpoint`
   * @param options.answers the endpoint has taken something lately
   */
  take(uid: string, { limit = this.perEndpoint, answers = false }: { readonly limit?: number; readonly answers?: boolean } = {}): boolean {
    const taken = this.of(uid);
    const share = fairShare({ total: this.#total, inAll: this.inAll, answers });
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
