/** Retries work that must succeed even if Postgres is away for some seconds. */
import { backoffDelay } from '../../platform/backoff.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import { retry } from '../../platform/retry.ts';
import { StoreError } from '../../store/index.ts';

export interface PersistOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Longest time for all attempts together, in milliseconds. */
  readonly withinMs: number;
  /** Text that completes `failed to …` in the log. */
  readonly what: string;
}

const BACKOFF = { baseMs: 200, maxMs: 2_000, jitter: 0 } as const;

/** Tries again until it succeeds or the time is over. @throws what the last attempt threw */
export async function persist<T>(work: () => Promise<T>, { clock, logger, withinMs, what }: PersistOptions): Promise<T> {
  const from = clock.monotonic();
  const delayMs = (error: unknown, failures: number): number | undefined => {
    const waitMs = backoffDelay(failures, BACKOFF);
    const hopeless = error instanceof StoreError && !error.retryable;
    if (hopeless || clock.monotonic() - from + waitMs > withinMs) return undefined;
    logger.warn({ err: error }, `failed to ${what}; retrying`);
    return waitMs;
  };
  return retry(work, { delayMs, clock });
}
