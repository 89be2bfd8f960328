/** When how many events are to be written. Pure. */

/** Transactions at once. */
export const CONNECTIONS = 8;

/** Events of one transaction at most, where they come as fast as they can. */
const LARGEST_BATCH = 100;

/** As fast as it goes: sizes of transactions that keep every connection busy, small ones for few events. */
export function batchSize(count: number): number {
  return Math.min(LARGEST_BATCH, Math.max(1, Math.floor(count / (CONNECTIONS * 4))));
}

/** How many of `count` events are due after `elapsedMs`: the first at once, and each at its own time whatever became of those before it. */
export function dueAfter(elapsedMs: number, rate: number, count: number): number {
  return Math.min(count, Math.floor((elapsedMs * rate) / 1000) + 1);
}

/** Milliseconds from the beginning until event number `index` (from 0) is due. */
export function dueAt(index: number, rate: number): number {
  return (index * 1000) / rate;
}

/** Events of one transaction at a rate: one, unless the rate is higher than a timer can separate transactions. */
export function pacedBatchSize(rate: number): number {
  return Math.max(1, Math.ceil(rate / 500));
}
