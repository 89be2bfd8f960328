import { sleep, type Clock } from './clock.ts';

export interface PollOptions {
  /** Milliseconds between the end of one look and the next. */
  readonly everyMs: number;
  /** Milliseconds after the first look in which the last one may begin; default: no limit. */
  readonly withinMs?: number;
  readonly clock: Clock;
  /** Ends the waiting. */
  readonly signal?: AbortSignal | undefined;
}

/** Looks until `done` holds, the time is over or the signal aborts, and at least once. @returns what the last look found */
export async function pollUntil<T>(
  look: () => T | Promise<T>,
  done: (found: Awaited<T>) => boolean,
  { everyMs, withinMs = Infinity, clock, signal }: PollOptions,
): Promise<Awaited<T>> {
  const giveUpAt = clock.monotonic() + withinMs;
  for (;;) {
    const found = await look();
    if (done(found) || clock.monotonic() >= giveUpAt) return found;
    await sleep(clock, everyMs, signal).catch(() => undefined);
    if (signal?.aborted === true) return found;
  }
}
