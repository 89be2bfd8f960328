/** A process that shares a budget of memory, and may be ended for it. */
export interface Sharing {
  readonly isBusy: boolean;
  kill(why: 'crowd'): void;
}

/**
 * Keeps the memory of processes that run side by side below a sum. Where they exceed it, it ends idle ones, and then the latest of those
 * that take more than their share: a process that has been at work longer gets done, and the other's file may be begun again.
 */
export class MemoryBudget {
  readonly #bytes: number;
  /** Bytes of each process, in the order of their coming. */
  readonly #held = new Map<Sharing, number>();

  readonly #expected = new WeakMap<Sharing, number>();

  constructor(bytes: number) {
    this.#bytes = bytes;
  }

  /** @param bytes the memory that it is expected to take at first */
  join(one: Sharing, bytes = 0): void {
    this.#expected.set(one, bytes);
    this.#held.set(one, bytes);
  }

  leave(one: Sharing): void {
    this.#held.delete(one);
  }

  /** Tells whether one more process may take so much. One that takes less than was expected may have only begun to load. */
  hasRoomFor(bytes: number): boolean {
    return [...this.#held].reduce((total, [one, held]) => total + Math.max(held, this.#expected.get(one) ?? 0), bytes) <= this.#bytes;
  }

  holds(one: Sharing, bytes: number): void {
    if (!this.#held.has(one)) return;
    this.#held.set(one, bytes);
    for (const other of this.#held.keys()) {
      if (this.#sum() <= this.#bytes) return;
      if (!other.isBusy) this.#end(other);
    }
    if (this.#sum() <= this.#bytes || this.#held.size === 1) return;
    const share = this.#bytes / this.#held.size;
    const last = [...this.#held].findLast(([, held]) => held > share)?.[0];
    if (last !== undefined) this.#end(last);
  }

  #end(one: Sharing): void {
    this.#held.delete(one);
    one.kill('crowd');
  }

  #sum(): number {
    return [...this.#held.values()].reduce((total, held) => total + held, 0);
  }
}
