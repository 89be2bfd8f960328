/** How provider failures travel through LiveKit's sessions: into one as a {@link ProviderApiError}, out of one by {@link providerFailureOf}. */
import { APIError, isAPIError } from '@livekit/agents';

import { PART_NAMES, ProviderError, type ProviderErrorKind, type ProviderPart } from '../calls/provider-access/index.ts';
import { sleep, type Clock } from '../../platform/clock.ts';

/** What the next attempt may well not meet again. */
const TRANSIENT: ReadonlySet<ProviderErrorKind> = new Set(['connection_lost', 'runtime', 'unreachable', 'payload']);

/** LiveKit's streams read from it whether to retry, and carry it to the session. */
export class ProviderApiError extends APIError {
  readonly failure: ProviderError;

  /** @param options.retryable false where something has been said or heard already */
  constructor(failure: ProviderError, { retryable = true }: { readonly retryable?: boolean } = {}) {
    super(failure.message, { retryable: retryable && !failure.slow && TRANSIENT.has(failure.kind) });
    this.name = 'ProviderApiError';
    this.failure = failure;
  }
}

export interface RetryOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Milliseconds before the next attempt; undefined after the last. @param failures so far, less one */
  readonly pauseMs: (failures: number) => number | undefined;
}

/** Retries after transient failures. @throws ProviderApiError that LiveKit does not retry once more, the signal's reason, or what is no provider failure */
export async function withRetries<T>({ clock, signal, pauseMs }: RetryOptions, work: () => Promise<T>): Promise<T> {
  for (let failures = 0; ; failures += 1) {
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      const failed = error instanceof ProviderError ? new ProviderApiError(error) : error;
      if (!(failed instanceof ProviderApiError)) throw error;
      const waitMs = failed.retryable ? pauseMs(failures) : undefined;
      if (waitMs === undefined) throw new ProviderApiError(failed.failure, { retryable: false });
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
    if (at instanceof ProviderApiError) return at.failure;
    if (isAPIError(at)) return ofLiveKit(at, part);
  }
  const name = error instanceof Error ? error.name : typeof error;
  return new ProviderError({ part, kind: 'runtime', provider: 'unknown', message: `the ${PART_NAMES[part]} failed (${name})` });
}

const causeOf = (at: object): unknown => ('error' in at ? at.error : 'cause' in at ? at.cause : undefined);

/** Of a plugin that connects by itself. */
function ofLiveKit(error: Error, part: ProviderPart): ProviderError {
  const status = 'statusCode' in error && typeof error.statusCode === 'number' && error.statusCode >= 100 ? error.statusCode : undefined;
  const kind: ProviderErrorKind = status === undefined || status >= 1000 ? 'unreachable' : isRefusal(status) ? 'refused' : 'runtime';
  const message = `the ${PART_NAMES[part]} failed (${status === undefined ? error.name : `status ${status}`})`;
  return new ProviderError({ part, kind, provider: 'unknown', ...(status !== undefined && { status }), message });
}

const isRefusal = (status: number): boolean => status >= 400 && status < 500 && ![408, 409, 425, 429, 499].includes(status);
