import type { Clock } from '../platform/clock.ts';
import { errorMessageOf } from '../platform/caught.ts';
import { every } from '../platform/every.ts';
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
export function watchHealth(options: WatchHealthOptions, signal: AbortSignal): Promise<void> {
  const { check, readiness, clock, logger, everyMs = EVERY_MS } = options;
  return every({ intervalMs: everyMs, clock, logger, failure: 'Postgres is not usable', signal }, async () => {
    try {
      await check();
      readiness.ready('postgres');
    } catch (error) {
      readiness.notReady('postgres', errorMessageOf(error));
      throw error;
    }
  });
}
