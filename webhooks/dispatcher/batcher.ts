/** Writes what comes in one after another, in batches: as many as have come while the last batch was written. */
import { backoffDelay } from '../../platform/backoff.ts';
import type { Clock } from '../../platform/clock.ts';
import { retry } from '../../platform/retry.ts';

export interface BatcherOptions<T, R> {
  /** @returns the result of each, in their order */
  readonly write: (batch: readonly T[]) => Promise<readonly R[]>;
  readonly most: number;
  /** Whether the same write may succeed later, unchanged. */
  readonly isTemporary: (error: unknown) => boolean;
  /** Called when a batch could not be written and is tried again after `waitMs`. */
  readonly onDelay: (error: unknown, waitMs: number) => void;
  /** Called with an item that will never be written. */
  readonly onRefused: (item: T, error: unknown) => void;
  readonly clock: Clock;
}

interface Entry<T, R> {
  readonly item: T;
  readonly settled: (written: R | undefined) => void;
}

const BACKOFF = { baseMs: 50, maxMs: 2_000, jitter: 0 };

export class Batcher<T, R> {
  readonly #options: BatcherOptions<T, R>;
  #waiting: Entry<T, R>[] = [];
  #writing = 0;
  #running: Promise<void> | undefined;

  constructor(options: BatcherOptions<T, R>) {
    this.#options = options;
  }

  /** Items that aren't written yet. */
  get size(): number {
    return this.#waiting.length + this.#writing;
  }

  /** Resolves once the item is written, or with undefined once it is refused. */
  add(item: T): Promise<R | undefined> {
    const { promise, resolve } = Promise.withResolvers<R | undefined>();
    this.#waiting.push({ item, settled: resolve });
    this.#running ??= this.#run();
    return promise;
  }

  /** Resolves once all is written that came before it does. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  async #run(): Promise<void> {
    // Items that come in the same turn of the event loop go together.
    await new Promise<void>((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, this.#options.most);
      this.#writing = batch.length;
      try {
        await this.#write(batch);
      } finally {
        this.#writing = 0;
      }
    }
    // It ends in the same turn as the last look at what waits: what is added later begins a run of its own.
    this.#running = undefined;
  }

  /** One item that can't be written keeps none of the others from it: the batch is halved until it stands alone. */
  async #write(batch: readonly Entry<T, R>[]): Promise<void> {
    const { write, isTemporary, onDelay, onRefused, clock } = this.#options;
    const delayMs = (error: unknown, failures: number): number | undefined => {
      if (!isTemporary(error)) return undefined;
      const waitMs = backoffDelay(failures, BACKOFF);
      onDelay(error, waitMs);
      return waitMs;
    };
    try {
      const written = await retry(() => write(batch.map(({ item }) => item)), { delayMs, clock });
      for (const [index, { settled }] of batch.entries()) settled(written[index]);
    } catch (error) {
      const [only] = batch;
      if (batch.length === 1 && only !== undefined) {
        onRefused(only.item, error);
        only.settled(undefined);
        return;
      }
      const middle = Math.ceil(batch.length / 2);
      await this.#write(batch.slice(0, middle));
      await this.#write(batch.slice(middle));
    }
  }
}
