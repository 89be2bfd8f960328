import { setTimeout as delay } from 'node:timers/promises';

/** The limit is the same for everything that a test waits for: it distinguishes "never" from "not yet", not fast from slow. */
const LIMIT_MS = 300_000;

/** Waits until the second of `from`, in milliseconds since the epoch, is over: times of Kubernetes have whole seconds. */
export async function nextSecond(from = Date.now()): Promise<void> {
  const end = 1_000 * Math.floor(from / 1_000) + 1_000;
  while (Date.now() < end) await delay(end - Date.now());
}

/** Calls `attempt` until it returns without throwing, and returns its result. */
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
