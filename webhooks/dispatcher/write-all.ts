import { backoffDelay } from '../../platform/backoff.ts';
import type { Clock } from '../../platform/clock.ts';
import { retry } from '../../platform/retry.ts';

export interface WriteAllOptions<T, R> {
  /** @returns what became of each, in their order */
  readonly write: (batch: readonly T[]) => Promise<readonly R[]>;
  /** Whether the same write may succeed later, unchanged. */
  readonly isTemporary: (error: unknown) => boolean;
  /** A batch could not be written and is tried again after `waitMs`. */
  readonly onDelay: (error: unknown, waitMs: number) => void;
  /** This one will never be written. */
  readonly onRefused: (item: T, error: unknown) => void;
  readonly clock: Clock;
}

const BACKOFF = { baseMs: 50, maxMs: 2_000, jitter: 0 };

/**
 * Writes a batch for as long as that takes. One item that can't be written keeps none of the others from it: the batch is halved until it stands
 * alone, and its result is undefined.
 */
export async function writeAll<T, R>(batch: readonly T[], options: WriteAllOptions<T, R>): Promise<readonly (R | undefined)[]> {
  const { write, isTemporary, onDelay, onRefused, clock } = options;
  const delayMs = (error: unknown, failures: number): number | undefined => {
    if (!isTemporary(error)) return undefined;
    const waitMs = backoffDelay(failures, BACKOFF);
    onDelay(error, waitMs);
    return waitMs;
  };
  try {
    return await retry(() => write(batch), { delayMs, clock });
  } catch (error) {
    const [only] = batch;
    if (batch.length === 1 && only !== undefined) {
      onRefused(only, error);
      return [undefined];
    }
    const middle = Math.ceil(batch.length / 2);
    return [...(await writeAll(batch.slice(0, middle), options)), ...(await writeAll(batch.slice(middle), options))];
  }
}
