export interface BatcherOptions<T, R> {
  /** @returns a result for each item, in their order */
  readonly work: (items: readonly T[], key: string) => Promise<readonly R[]>;
  /** Only items with the same key go together; default: all do. */
  readonly keyOf?: (item: T) => string;
  /** Most items of one batch; the weights of its items add up to `mostWeight` at most, unless it is one alone. */
  readonly most: number;
  readonly mostWeight?: number;
  readonly weightOf?: (item: T) => number;
  /** Most batches of a key that are under way; default 1. */
  readonly atOnce?: number;
}

interface Entry<T, R> extends PromiseWithResolvers<R> {
  readonly item: T;
}

interface Queue<T, R> {
  readonly waiting: Entry<T, R>[];
  underway: number;
}

/** Batches by group commit: items that come while a batch is worked on make up the next one. No item waits for company. */
export class Batcher<T, R> {
  readonly #options: BatcherOptions<T, R>;
  readonly #queues = new Map<string, Queue<T, R>>();
  readonly #pending = new Set<Promise<R>>();

  constructor(options: BatcherOptions<T, R>) {
    this.#options = options;
  }

  /** Number of items without a result. */
  get size(): number {
    return this.#pending.size;
  }

  /** @throws the error of the work on the item's batch */
  add(item: T): Promise<R> {
    const { keyOf = () => '', atOnce = 1 } = this.#options;
    const key = keyOf(item);
    const queue = this.#queues.get(key) ?? { waiting: [], underway: 0 };
    this.#queues.set(key, queue);
    const entry = { item, ...Promise.withResolvers<R>() };
    queue.waiting.push(entry);
    this.#pending.add(entry.promise);
    if (queue.underway < atOnce) void this.#run(key, queue);
    return entry.promise;
  }

  /** Resolves once no item is without a result. */
  async idle(): Promise<void> {
    while (this.#pending.size > 0) await Promise.allSettled(this.#pending);
  }

  async #run(key: string, queue: Queue<T, R>): Promise<void> {
    queue.underway += 1;
    // Items that come in the same turn of the event loop go together.
    await new Promise(setImmediate);
    for (let batch = this.#take(queue); batch.length > 0; batch = this.#take(queue)) {
      try {
        const results = await this.#options.work(
          batch.map(({ item }) => item),
          key,
        );
        if (results.length !== batch.length) throw new Error(`a batch of ${batch.length} has ${results.length} results`);
        for (const [at, { resolve }] of batch.entries()) resolve(results[at] as R);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
      for (const { promise } of batch) this.#pending.delete(promise);
    }
    queue.underway -= 1;
    // No item can have come since the last look: this is the same turn of the event loop.
    if (queue.underway === 0) this.#queues.delete(key);
  }

  #take({ waiting }: Queue<T, R>): readonly Entry<T, R>[] {
    const { most, mostWeight = Infinity, weightOf = () => 0 } = this.#options;
    let weight = 0;
    const end = waiting.slice(0, most).findIndex(({ item }, at) => (weight += weightOf(item)) > mostWeight && at > 0);
    return waiting.splice(0, end === -1 ? most : end);
  }
}
