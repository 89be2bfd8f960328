/** Failures of providers: which are tried again, and what stands behind an error. */
import { PART_NAMES, ProviderError, type ProviderErrorKind, type ProviderPart } from '../../calls/provider-access/index.ts';
import { sleep, type Clock } from '../../platform/clock.ts';

const TRANSIENT: ReadonlySet<ProviderErrorKind> = new Set(['connection_lost', 'runtime', 'unreachable', 'payload']);

/** @returns whether the next attempt may well not meet it again */
export const isTransient = ({ kind, slow }: ProviderError): boolean => !slow && TRANSIENT.has(kind);

export interface RetryOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Milliseconds before the next attempt; undefined after the last. @param failures so far, less one */
  readonly pauseMs: (failures: number) => number | undefined;
}

/** Retries after transient failures. @throws ProviderError, the signal's reason, or what is no failure of a provider */
export async function withRetries<T>({ clock, signal, pauseMs }: RetryOptions, work: () => Promise<T>): Promise<T> {
  for (let failures = 0; ; failures += 1) {
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      const waitMs = error instanceof ProviderError && isTransient(error) ? pauseMs(failures) : undefined;
      if (waitMs === undefined) throw error;
      await sleep(clock, waitMs, signal);
    }
  }
}

/** @returns without the message of a client library: those quote prompts and answers */
export function providerFailureOf(error: unknown, part: ProviderPart): ProviderError {
  for (let at = error; typeof at === 'object' && at !== null; at = 'cause' in at ? at.cause : undefined)
    if (at instanceof ProviderError) return at;
  const name = error instanceof Error ? error.name : typeof error;
  return new ProviderError({ part, kind: 'runtime', provider: 'unknown', message: `the ${PART_NAMES[part]} failed (${name})` });
}
