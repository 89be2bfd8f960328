/** Remembers which events were shown. Ids are times, and transactions are committed in another order than their ids were made. */

/** Longest time between the making of an id and the look that finds its event, in milliseconds; what takes longer isn't shown. */
const LATEST_MS = 10_000;

export class EventWindow {
  readonly #startedAt: number;
  #newest: number;
  /** Ids that may be met again, with the time at which each was made. */
  readonly #seen = new Map<string, number>();

  /** @param startedAt events made before aren't shown; milliseconds since the epoch */
  constructor(startedAt: number) {
    this.#startedAt = startedAt;
    this.#newest = startedAt;
  }

  /** Returns the id behind which to look: far enough back for slow commits, and not before the beginning. Forgets older events. */
  from(): string {
    const at = Math.max(this.#startedAt, this.#newest - LATEST_MS);
    for (const [id, made] of this.#seen) if (made < at) this.#seen.delete(id);
    const time = at.toString(16).padStart(12, '0');
    return `${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`;
  }

  /** Returns true once for each id. */
  isNew(id: string): boolean {
    if (this.#seen.has(id)) return false;
    const made = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
    this.#newest = Math.max(this.#newest, made);
    this.#seen.set(id, made);
    return true;
  }
}
