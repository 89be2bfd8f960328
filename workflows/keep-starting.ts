/**
 * Starts workflows for rows that are due. A row is due until its work is over: a worker starts it again, whichever process died in between.
 */
import { every, type EveryOptions } from '../platform/every.ts';

interface Due {
  readonly org: string;
  readonly id: string;
}

export interface KeepStartingOptions<R extends Due> extends Pick<EveryOptions, 'intervalMs' | 'clock' | 'logger' | 'failure' | 'signal'> {
  readonly rows: {
    due(options: { readonly limit: number }): Promise<readonly R[]>;
    begun(row: Due & { readonly lookAgainInMs: number }): Promise<void>;
  };
  readonly start: (row: R) => Promise<void>;
  /** Milliseconds after which a row that is not over is started again: Temporal knows whether its workflow still runs. */
  readonly restartAfterMs: number;
}

const LONGEST_INTERVAL_MS = 15_000;
const BATCH_SIZE = 100;

/** Starts workflows until the signal aborts. Safe to run on several replicas. */
export function keepStarting<R extends Due>({ rows, start, restartAfterMs, ...loop }: KeepStartingOptions<R>): Promise<void> {
  return every({ ...loop, longestIntervalMs: LONGEST_INTERVAL_MS, random: Math.random }, async () => {
    const due = await rows.due({ limit: BATCH_SIZE });
    for (const row of due) {
      if (loop.signal.aborted) return undefined;
      await start(row);
      await rows.begun({ org: row.org, id: row.id, lookAgainInMs: restartAfterMs });
    }
    return due.length === BATCH_SIZE ? 'again' : undefined;
  });
}
