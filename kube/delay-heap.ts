interface Entry<K> {
  readonly key: K;
  readonly dueAt: number;
  /** Position in the heap, kept up to date by every move. */
  at: number;
}

/** Keys with the time each is due at, the earliest first; each key at most once. Every operation takes O(log n). */
export class DelayHeap<K> {
  readonly #heap: Entry<K>[] = [];
  readonly #byKey = new Map<K, Entry<K>>();

  /** The time at which the earliest key is due. */
  get nextAt(): number | undefined {
    return this.#heap[0]?.dueAt;
  }

  /** Adds `key`; if it waits already, the earlier of the two times holds. */
  add(key: K, dueAt: number): void {
    const known = this.#byKey.get(key);
    if (known && known.dueAt <= dueAt) return;
    if (known) this.#remove(known);
    const entry: Entry<K> = { key, dueAt, at: this.#heap.length };
    this.#byKey.set(key, entry);
    this.#heap.push(entry);
    this.#up(entry);
  }

  /** Takes out the earliest key if it is due at `now`. */
  takeDue(now: number): K | undefined {
    const first = this.#heap[0];
    if (!first || first.dueAt > now) return undefined;
    this.#remove(first);
    return first.key;
  }

  clear(): void {
    this.#heap.length = 0;
    this.#byKey.clear();
  }

  #remove(entry: Entry<K>): void {
    this.#byKey.delete(entry.key);
    const last = this.#heap.pop();
    if (!last || last === entry) return;
    this.#put(last, entry.at);
    this.#up(last);
    this.#down(last);
  }

  #put(entry: Entry<K>, at: number): void {
    entry.at = at;
    this.#heap[at] = entry;
  }

  #up(entry: Entry<K>): void {
    for (;;) {
      const parent = entry.at > 0 ? this.#heap[(entry.at - 1) >> 1] : undefined;
      if (!parent || parent.dueAt <= entry.dueAt) return;
      this.#swap(parent, entry);
    }
  }

  #down(entry: Entry<K>): void {
    for (;;) {
      const left = this.#heap[entry.at * 2 + 1];
      const right = this.#heap[entry.at * 2 + 2];
      const least = right && left && right.dueAt < left.dueAt ? right : left;
      if (!least || least.dueAt >= entry.dueAt) return;
      this.#swap(entry, least);
    }
  }

  #swap(a: Entry<K>, b: Entry<K>): void {
    const at = a.at;
    this.#put(a, b.at);
    this.#put(b, at);
  }
}
