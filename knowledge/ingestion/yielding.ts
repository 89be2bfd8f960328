import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * For loops that compute: everything else in the process (other documents, heartbeats, probes) gets its turn at least every
 * `everyMs` milliseconds (10) if the answer is awaited in each round.
 */
export function yieldRegularly(everyMs = 10): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < everyMs) return;
    await nextTurn();
    since = performance.now();
  };
}
