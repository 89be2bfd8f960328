/** Decides whether a request is sent again, and when. Pure. */

/** An attempt ended with an answer, or without one (`status` undefined). */
export interface Outcome {
  readonly status?: number;
  /** Wait that the server asks for, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
}

export interface RetryLimits {
  /** Attempts in addition to the first one. */
  readonly retries: number;
  /** The longest wait before an attempt, in milliseconds. A server that asks for more gets no other attempt. */
  readonly maxWaitMs: number;
}

const FIRST_WAIT_MS = 500;
/** A server or proxy that answers so has not carried the request out, or not wholly. */
const AGAIN = new Set([502, 503, 504]);

/**
 * @param request.repeatable true if nothing is made twice when it is carried out twice
 * @param attempt number of attempts so far, at least 1
 * @param random between 0 and 1
 * @returns how long to wait in milliseconds, or undefined to give up
 */
export function planRetry(
  { repeatable }: { readonly repeatable: boolean },
  { status, retryAfterMs }: Outcome,
  { attempt, random, limits }: { readonly attempt: number; readonly random: number; readonly limits: RetryLimits },
): number | undefined {
  if (attempt > limits.retries || !mayRepeat({ repeatable }, { ...(status !== undefined && { status }), retryAfterMs })) return undefined;
  if (retryAfterMs !== undefined) return retryAfterMs > limits.maxWaitMs ? undefined : retryAfterMs;
  // Clients that were cut off together don't come back together.
  return Math.min(limits.maxWaitMs, FIRST_WAIT_MS * 2 ** (attempt - 1)) * (0.5 + random / 2);
}

function mayRepeat({ repeatable }: { readonly repeatable: boolean }, { status, retryAfterMs }: Outcome): boolean {
  // A request past a limit was not carried out.
  if (status === 429) return true;
  if (!repeatable) return false;
  // A 409 with Retry-After: the first request with this Idempotency-Key is still being carried out.
  return status === undefined || AGAIN.has(status) || (status === 409 && retryAfterMs !== undefined);
}
