/** Reasons why a key is in the queue, the most urgent first. */
export const priorities = ['user', 'initial', 'resync'] as const;
export type Priority = (typeof priorities)[number];

/** Keys that may overtake a waiting, less urgent one before it has its turn. */
export const OVERTAKES_ALLOWED = 10;

interface Lane<K> {
  /** Keys in the order of arrival, with the time of arrival. */
  readonly keys: Map<K, number>;
  /** Keys taken from more urgent lanes since this one was last served. */
  overtaken: number;
}

/**
 * The bookkeeping of client-go's queue, without time or workers: which key is handled next.
 *
 * - *waiting*: to be handed out; a key stands there once, however often it was added.
 * - *processing*: handed out and not finished; such a key is never handed out again.
 * - *dirty while processing*: added meanwhile; it waits again as soon as it is finished.
 *
 * A key added under two priorities has the more urgent one. A lane that was overtaken {@link OVERTAKES_ALLOWED} times goes first once.
 */
export class KeyQueue<K> {
  readonly #lanes: readonly Lane<K>[] = priorities.map(() => ({ keys: new Map(), overtaken: 0 }));
  readonly #processing = new Map<K, Priority>();
  readonly #again = new Map<K, Priority>();

  /** @returns whether that made a difference: false where the key waited already. */
  add(key: K, priority: Priority, now: number): boolean {
    if (this.#processing.has(key)) {
      const known = this.#again.get(key);
      this.#again.set(key, known === undefined ? priority : moreUrgent(known, priority));
      return known === undefined;
    }
    const rank = priorities.indexOf(priority);
    const known = this.#lanes.findIndex((lane) => lane.keys.has(key));
    if (known >= 0 && known <= rank) return false;
    const since = (known >= 0 ? this.#lanes[known]?.keys.get(key) : undefined) ?? now;
    if (known >= 0) this.#lanes[known]?.keys.delete(key);
    this.#lanes[rank]?.keys.set(key, since);
    return known < 0;
  }

  /** Hands out the next key. `waitedSince` is the time at which it was added. */
  take(): { readonly key: K; readonly priority: Priority; readonly waitedSince: number } | undefined {
    const waiting = this.#lanes.filter((lane) => lane.keys.size > 0);
    const lane = waiting.find((candidate) => candidate.overtaken >= OVERTAKES_ALLOWED) ?? waiting[0];
    const next = lane?.keys.entries().next().value;
    const priority = lane && priorities[this.#lanes.indexOf(lane)];
    if (!lane || !next || !priority) return undefined;
    const [key, waitedSince] = next;
    lane.keys.delete(key);
    lane.overtaken = 0;
    for (const other of waiting) if (this.#lanes.indexOf(other) > this.#lanes.indexOf(lane)) other.overtaken++;
    this.#processing.set(key, priority);
    return { key, priority, waitedSince };
  }

  /** Finishes the key that was handed out; added meanwhile, it waits again. @returns whether it does. */
  done(key: K, now: number): boolean {
    this.#processing.delete(key);
    const again = this.#again.get(key);
    if (again === undefined) return false;
    this.#again.delete(key);
    this.add(key, again, now);
    return true;
  }

  /** The priority under which `key` was handed out, while it is processed. */
  processing(key: K): Priority | undefined {
    return this.#processing.get(key);
  }

  /** Keys that wait to be handed out. */
  get depth(): number {
    return this.#lanes.reduce((sum, lane) => sum + lane.keys.size, 0);
  }
}

function moreUrgent(a: Priority, b: Priority): Priority {
  return priorities.indexOf(a) <= priorities.indexOf(b) ? a : b;
}
