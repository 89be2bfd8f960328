import type { Clock } from '../../../platform/clock.ts';
import { withTimeout } from '../../../platform/clock.ts';

export interface BatchOptions<T> {
  /** Most items of a batch. */
  readonly items: number;
  /** A batch ends with the item that brings it to this weight. */
  readonly weight: number;
  readonly weightOf: (item: T) => number;
  /** Longest wait of a batch for its next item, in milliseconds. */
  readonly idleMs: number;
  readonly clock: Clock;
}

/** Yields items in their order, as many at a time as are there, and those before a failure of the source before the failure. */
export async function* batches<T>(source: AsyncIterable<T>, options: BatchOptions<T>): AsyncGenerator<readonly T[]> {
  const items = source[Symbol.asyncIterator]();
  let batch: T[] = [];
  let weight = 0;
  let next = attempted(items.next());
  for (;;) {
    const read = batch.length === 0 ? await next : await withTimeout(options.clock, options.idleMs, next);
    if (read === undefined || 'failure' in read || read.done === true) {
      if (batch.length > 0) yield batch;
      [batch, weight] = [[], 0];
      if (read === undefined) continue;
      if ('failure' in read) throw read.failure;
      return;
    }
    batch.push(read.value);
    weight += options.weightOf(read.value);
    if (batch.length >= options.items || weight >= options.weight) {
      yield batch;
      [batch, weight] = [[], 0];
    }
    next = attempted(items.next());
  }
}

type Attempt<T> = IteratorResult<T, unknown> | { readonly failure: unknown };

/** Turns a rejection into a value: it may come while nothing waits for it. */
function attempted<T>(next: Promise<IteratorResult<T, unknown>>): Promise<Attempt<T>> {
  return next.catch((failure: unknown) => ({ failure }));
}
