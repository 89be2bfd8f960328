/** Starts workflows for rows that are due. A row is due until its work is over: whatever dies in between, a worker finds it and starts it again. */
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
  /** What was started and is not over after this is started again: Temporal knows whether it still runs. In milliseconds. */
  readonly restartAfterMs: number;
}

const LONGEST_INTERVAL_MS = 15_000;
const BATCH_SIZE = 100;

/** Runs until the signal aborts. Safe to run on several replicas. */
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
