/** What may share a budget of memory, and be ended for it. */
export interface Sharing {
  kill(why: 'crowd'): void;
}

/**
 * Keeps processes that run side by side below a sum. Where they exceed it, the one that came last of those that take more than their share
 * is ended: what has been at work longer gets done, and the other one may be begun again.
 */
export class MemoryBudget {
  readonly #bytes: number;
  /** In the order of their coming. */
  readonly #held = new Map<Sharing, number>();

  constructor(bytes: number) {
    this.#bytes = bytes;
  }

  join(one: Sharing): void {
    this.#held.set(one, 0);
  }

  leave(one: Sharing): void {
    this.#held.delete(one);
  }

  holds(one: Sharing, bytes: number): void {
    if (!this.#held.has(one)) return;
    this.#held.set(one, bytes);
    const sum = [...this.#held.values()].reduce((total, held) => total + held, 0);
    if (sum <= this.#bytes || this.#held.size === 1) return;
    const share = this.#bytes / this.#held.size;
    const last = [...this.#held].findLast(([, held]) => held > share)?.[0];
    if (last === undefined) return;
    this.#held.delete(last);
    last.kill('crowd');
  }
}
