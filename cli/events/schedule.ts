/** Decides when how many events are written. Pure. */

/** Transactions at once. */
export const CONNECTIONS = 8;

/** Most events of one transaction, where they come as fast as they can. */
const LARGEST_BATCH = 100;

/** Returns sizes of transactions that keep every connection busy without a rate: small ones for few events. */
export function batchSize(count: number): number {
  return Math.min(LARGEST_BATCH, Math.max(1, Math.floor(count / (CONNECTIONS * 4))));
}

/** Returns how many of `count` events are due after `elapsedMs`: the first at once, each at its own time whatever became of others. */
export function dueAfter(elapsedMs: number, rate: number, count: number): number {
  return Math.min(count, Math.floor((elapsedMs * rate) / 1000) + 1);
}

/** Returns the milliseconds from the beginning until event number `index` (from 0) is due. */
export function dueAt(index: number, rate: number): number {
  return (index * 1000) / rate;
}

/** Returns the events of one transaction at a rate: one, unless the rate is higher than a timer can separate transactions. */
export function pacedBatchSize(rate: number): number {
  return Math.max(1, Math.ceil(rate / 500));
}
