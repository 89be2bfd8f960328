interface Waiting {
  /** Owner of the request; undefined where there is only one. */
  readonly owner: string | undefined;
}

/** Picks the first request among those whose owner holds the fewest. */
export function nextInTurn<T extends Waiting>(waiting: readonly T[], heldBy: (owner: string) => number): T | undefined {
  const held = ({ owner }: Waiting): number => (owner === undefined ? 0 : heldBy(owner));
  return waiting.toSorted((one, other) => held(one) - held(other))[0];
}

/** Admits at most `permits` holders at a time; the others wait, first come first served, and first those of owners that hold fewer. */
export class Semaphore {
  readonly #waiting: (Waiting & { readonly grant: () => void })[] = [];
  readonly #held = new Map<string, number>();
  readonly #permits: number;
  readonly #kept: number;
  #taken = 0;

  /** @param options.kept permits in addition, for owners that hold none; default 0 */
  constructor(permits: number, { kept = 0 }: { readonly kept?: number } = {}) {
    this.#permits = permits;
    this.#kept = kept;
  }

  /** @returns a function that releases the permit, as that of {@link acquire} does; undefined where it would have to wait */
  tryAcquire(owner?: string): (() => void) | undefined {
    if (!this.#mayTake(owner)) return undefined;
    this.#count(owner, 1);
    return this.#releaseOf(owner);
  }

  /** @returns a function that releases the permit; call it once. @throws the signal's reason when it aborts while waiting */
  async acquire(signal?: AbortSignal, owner?: string): Promise<() => void> {
    signal?.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting = { owner, grant: resolve };
    const leave = (): void => {
      const at = this.#waiting.indexOf(waiting);
      if (at >= 0) this.#waiting.splice(at, 1);
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', leave, { once: true });
    this.#waiting.push(waiting);
    this.#serve();
    await promise.finally(() => signal?.removeEventListener('abort', leave));
    return this.#releaseOf(owner);
  }

  #releaseOf(owner: string | undefined): () => void {
    return () => {
      this.#count(owner, -1);
      this.#serve();
    };
  }

  #serve(): void {
    for (;;) {
      const next = nextInTurn(this.#waiting, (owner) => this.#held.get(owner) ?? 0);
      if (next === undefined || !this.#mayTake(next.owner)) return;
      this.#waiting.splice(this.#waiting.indexOf(next), 1);
      this.#count(next.owner, 1);
      next.grant();
    }
  }

  #mayTake(owner: string | undefined): boolean {
    const holdsNone = owner !== undefined && !this.#held.has(owner);
    return this.#taken < this.#permits + (holdsNone ? this.#kept : 0);
  }

  #count(owner: string | undefined, change: 1 | -1): void {
    this.#taken += change;
    if (owner === undefined) return;
    const held = (this.#held.get(owner) ?? 0) + change;
    if (held === 0) this.#held.delete(owner);
    else this.#held.set(owner, held);
  }
}
