import { sleep, type Clock } from './clock.ts';

export interface RetryOptions {
  /** @param failures number of failures in a row, this one included @returns milliseconds until the next attempt; undefined for none */
  readonly delayMs: (error: unknown, failures: number) => number | undefined;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
}

/** Makes attempts until one succeeds. @throws the error of the last attempt; the signal's reason once that has aborted */
export async function retry<T>(attempt: () => Promise<T>, { delayMs, clock, signal }: RetryOptions): Promise<T> {
  for (let failures = 1; ; failures += 1) {
    try {
      return await attempt();
    } catch (error) {
      signal?.throwIfAborted();
      const waitMs = delayMs(error, failures);
      if (waitMs === undefined) throw error;
      if (waitMs > 0) await sleep(clock, waitMs, signal);
    }
  }
}
