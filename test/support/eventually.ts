import { setTimeout as delay } from 'node:timers/promises';

/** The same for everything that a test waits for: it distinguishes "never" from "not yet", not fast from slow. */
const LIMIT_MS = 300_000;

/** Calls `attempt` until it answers without throwing, and gives that answer. */
export async function eventually<T>(attempt: () => Promise<T> | T, everyMs = 100): Promise<T> {
  const end = performance.now() + LIMIT_MS;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() > end) throw error;
      await delay(everyMs);
    }
  }
}
