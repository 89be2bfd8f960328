import { vi } from 'vitest';

import { systemClock } from '../../platform/clock.ts';

/**
 * Does `work` on a processor so slow that each look at the process's clock finds a whole slice of `Pacer` gone, and counts how often the event
 * loop goes round meanwhile: once for each step that a loop takes in a slice of its own.
 */
export async function countTurns(work: () => Promise<unknown>): Promise<number> {
  let now = 0;
  const clock = vi.spyOn(systemClock, 'monotonic').mockImplementation(() => (now += 20));
  let turns = 0;
  let counting = setImmediate(function count() {
    turns += 1;
    counting = setImmediate(count);
  });
  try {
    await work();
    return turns;
  } finally {
    clearImmediate(counting);
    clock.mockRestore();
  }
}
