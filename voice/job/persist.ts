/** For what has to be written down, even if Postgres is away for some seconds. */
import { sleep, type Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import { StoreError } from '../../store/index.ts';

export interface PersistOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Longest time for all attempts together, in milliseconds. */
  readonly withinMs: number;
  /** What can't be written, for the log. */
  readonly what: string;
}

const firstPauseMs = 200;
const longestPauseMs = 2_000;

/** Tries again until it succeeds or the time is over. @throws what the last attempt threw */
export async function persist<T>(write: () => Promise<T>, { clock, logger, withinMs, what }: PersistOptions): Promise<T> {
  const from = clock.monotonic();
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(longestPauseMs, pauseMs * 2)) {
    try {
      return await write();
    } catch (error) {
      const hopeless = error instanceof StoreError && !error.retryable;
      if (hopeless || clock.monotonic() - from + pauseMs > withinMs) throw error;
      logger.warn({ err: error }, `${what} could not be written down yet; the next attempt follows`);
      await sleep(clock, pauseMs);
    }
  }
}
