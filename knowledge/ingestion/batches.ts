/** Group commit: items that come while a batch of the same key is at work make up the next one. Nothing waits for company. */

export interface BatchesOptions<T, R> {
  /** @returns a result for each item, in their order */
  readonly work: (key: string, items: readonly T[]) => Promise<readonly R[]>;
  /** Most items of one batch; their weights add up to `mostWeight` at most, unless it is one item alone. */
  readonly most: number;
  readonly mostWeight?: number;
  readonly weightOf?: (item: T) => number;
}

interface Entry<T, R> {
  readonly item: T;
  readonly resolve: (result: R) => void;
  readonly reject: (error: unknown) => void;
}

export class Batches<T, R> {
  readonly #options: BatchesOptions<T, R>;
  readonly #waiting = new Map<string, Entry<T, R>[]>();

  constructor(options: BatchesOptions<T, R>) {
    this.#options = options;
  }

  /** @throws the error of its batch's work */
  add(key: string, item: T): Promise<R> {
    const { promise, resolve, reject } = Promise.withResolvers<R>();
    const waiting = this.#waiting.get(key);
    if (waiting !== undefined) waiting.push({ item, resolve, reject });
    else {
      this.#waiting.set(key, [{ item, resolve, reject }]);
      void this.#run(key);
    }
    return promise;
  }

  async #run(key: string): Promise<void> {
    // Items that come in the same turn of the event loop go together.
    await new Promise(setImmediate);
    for (let batch = this.#take(key); batch.length > 0; batch = this.#take(key)) {
      try {
        const results = await this.#options.work(
          key,
          batch.map(({ item }) => item),
        );
        if (results.length !== batch.length) throw new Error(`a batch of ${batch.length} has ${results.length} results`);
        for (const [at, { resolve }] of batch.entries()) resolve(results[at] as R);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    // This runs in the same turn as the last look at the waiting items.
    this.#waiting.delete(key);
  }

  #take(key: string): readonly Entry<T, R>[] {
    const { most, mostWeight = Infinity, weightOf = () => 0 } = this.#options;
    const waiting = this.#waiting.get(key) ?? [];
    let weight = 0;
    const end = waiting.slice(0, most).findIndex(({ item }, at) => (weight += weightOf(item)) > mostWeight && at > 0);
    return waiting.splice(0, end === -1 ? most : end);
  }
}
