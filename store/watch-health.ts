import type { Clock } from '../platform/clock.ts';
import { errorMessageOf } from '../platform/caught.ts';
import { every } from '../platform/every.ts';
import type { Readiness } from '../platform/lifecycle.ts';
import type { Logger } from '../platform/logging.ts';

/** Default of {@link WatchHealthOptions.everyMs}. */
const EVERY_MS = 5_000;

export interface WatchHealthOptions {
  /** Rejects where Postgres can't be used. */
  readonly check: () => Promise<void>;
  readonly readiness: Readiness;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Milliseconds between two checks; 5,000 by default. */
  readonly everyMs?: number;
}

/**
 * Keeps readiness up to date until the signal aborts: whether Postgres answers and has the schema. A person reads the reason at `/readyz`;
 * it is logged once.
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
