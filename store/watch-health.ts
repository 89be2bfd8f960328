import { sleep, type Clock } from '../platform/clock.ts';
import { errorMessageOf } from '../platform/caught.ts';
import type { Readiness } from '../platform/lifecycle.ts';
import type { Logger } from '../platform/logging.ts';

/** Between two looks, in milliseconds. */
const EVERY_MS = 5_000;

export interface WatchHealthOptions {
  /** Rejects where Postgres can't be used. */
  readonly check: () => Promise<void>;
  readonly readiness: Readiness;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Between two looks, in milliseconds; 5,000 by default. */
  readonly everyMs?: number;
}

/**
 * Readiness shows whether Postgres answers and has the schema, until the signal aborts; the reason is what a person reads at `/readyz`, and is
 * logged once.
 */
export async function watchHealth(options: WatchHealthOptions, signal: AbortSignal): Promise<void> {
  const { check, readiness, clock, logger } = options;
  let reason: string | undefined;
  while (!signal.aborted) {
    try {
      await check();
      reason = undefined;
      readiness.ready('postgres');
    } catch (err) {
      const message = errorMessageOf(err);
      if (message !== reason) logger.warn({ err }, 'Postgres is not usable');
      reason = message;
      readiness.notReady('postgres', message);
    }
    await sleep(clock, options.everyMs ?? EVERY_MS, signal).catch(() => undefined);
  }
}
