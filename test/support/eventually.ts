import { setTimeout as delay } from 'node:timers/promises';

/**
 * Calls `attempt` until it answers without throwing, and gives that answer.
 * The limit is generous on purpose: it distinguishes "never" from "not yet", not fast from slow.
 */
export async function eventually<T>(attempt: () => Promise<T> | T, limitMs = 120_000, everyMs = 100): Promise<T> {
  const end = performance.now() + limitMs;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() > end) throw error;
      await delay(everyMs);
    }
  }
}
