import { backoffDelay } from './backoff.ts';
import { sleep, type Clock } from './clock.ts';
import type { Logger } from './logging.ts';

export interface EveryOptions {
  /** Milliseconds between the end of one round and the next. */
  readonly intervalMs: number;
  /** Each failure in a row doubles the interval up to this, in milliseconds; absent, a failure changes nothing. */
  readonly longestIntervalMs?: number;
  /** A random number in [0, 1) that spreads each interval over ±25 %, so that replicas do not work in step; absent, intervals are exact. */
  readonly random?: () => number;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'warn'>;
  /** Message `failed to X; doing Y`, logged when failures begin and when the reason changes. */
  readonly failure: string;
  /** Ends the loop. */
  readonly signal: AbortSignal;
}

/**
 * Runs `work` at once and after each interval until the signal aborts. Never rejects: a failed round is logged and followed by the next.
 *
 * @param work answers 'again' to be run without a pause, 'stop' to end the loop
 */
export async function every(options: EveryOptions, work: () => Promise<'again' | 'stop' | void>): Promise<void> {
  const { intervalMs, longestIntervalMs = intervalMs, random, clock, logger, failure, signal } = options;
  let failures = 0;
  let reason: string | undefined;
  while (!signal.aborted) {
    try {
      const outcome = await work();
      failures = 0;
      reason = undefined;
      if (outcome === 'stop') return;
      if (outcome === 'again') continue;
    } catch (err) {
      failures += 1;
      if (signal.aborted) return;
      const message = String(err);
      if (message !== reason) logger.warn({ err }, failure);
      reason = message;
    }
    const waitMs = backoffDelay(failures + 1, { baseMs: intervalMs, maxMs: longestIntervalMs, jitter: 0 });
    await sleep(clock, random === undefined ? waitMs : waitMs * (0.75 + random() / 2), signal).catch(() => undefined);
  }
}
