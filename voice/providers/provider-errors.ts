/** Failures of providers: which are tried again, and what stands behind an error of a library. */
import { PART_NAMES, ProviderError, type ProviderErrorKind, type ProviderPart } from '../calls/provider-access/index.ts';
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

/**
 * @param error an error event of LiveKit's, the error that it carries, or what was thrown
 * @returns without the message of a client library: those quote prompts and answers
 */
export function providerFailureOf(error: unknown, part: ProviderPart): ProviderError {
  for (let at = error; typeof at === 'object' && at !== null; at = causeOf(at)) {
    if (at instanceof ProviderError) return at;
    if ('failure' in at && at.failure instanceof ProviderError) return at.failure;
    if (at instanceof Error && 'retryable' in at) return ofStatus(at, part);
  }
  const name = error instanceof Error ? error.name : typeof error;
  return new ProviderError({ part, kind: 'runtime', provider: 'unknown', message: `the ${PART_NAMES[part]} failed (${name})` });
}

const causeOf = (at: object): unknown => ('error' in at ? at.error : 'cause' in at ? at.cause : undefined);

/** Of LiveKit's streams. */
function ofStatus(error: Error, part: ProviderPart): ProviderError {
  const status = 'statusCode' in error && typeof error.statusCode === 'number' && error.statusCode >= 100 ? error.statusCode : undefined;
  const kind: ProviderErrorKind = status === undefined || status >= 1000 ? 'unreachable' : isRefusal(status) ? 'refused' : 'runtime';
  const message = `the ${PART_NAMES[part]} failed (${status === undefined ? error.name : `status ${status}`})`;
  return new ProviderError({ part, kind, provider: 'unknown', ...(status !== undefined && { status }), message });
}

const isRefusal = (status: number): boolean => status >= 400 && status < 500 && ![408, 409, 425, 429, 499].includes(status);
