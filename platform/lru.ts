/** Limits how much the entries may weigh together; the newest stays, whatever it weighs. */
interface WeightLimit<V> {
  readonly limit: number;
  readonly weigh: (value: V) => number;
}

/** A map that forgets its least recently used entries once it holds more than `capacity`, or more than their weight allows. */
export class LruMap<K, V> {
  readonly #entries = new Map<K, V>();
  readonly #capacity: number;
  readonly #weight: WeightLimit<V>;
  #total = 0;

  constructor(capacity: number, weight: WeightLimit<V> = { limit: 0, weigh: () => 0 }) {
    this.#capacity = capacity;
    this.#weight = weight;
  }

  get size(): number {
    return this.#entries.size;
  }

  get totalWeight(): number {
    return this.#total;
  }

  get(key: K): V | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    // A Map keeps the order of insertion: an entry that is put back goes to the end.
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  set(key: K, value: V): void {
    this.delete(key);
    this.#entries.set(key, value);
    this.#total += this.#weight.weigh(value);
    for (const oldest of this.#entries.keys()) {
      if (oldest === key || (this.#entries.size <= this.#capacity && this.#total <= this.#weight.limit)) break;
      this.delete(oldest);
    }
  }

  delete(key: K): void {
    const value = this.#entries.get(key);
    if (value === undefined) return;
    this.#total -= this.#weight.weigh(value);
    this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
    this.#total = 0;
  }
}
