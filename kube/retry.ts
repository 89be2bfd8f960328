import type { KubeError } from './error.ts';

/** Attempts of one request, the first included. */
export const MAX_ATTEMPTS = 5;

/** Where the server asks for a longer wait, the request fails: the caller's own queue waits better. */
const LONGEST_WAIT_MS = 10_000;

export interface RetryInput {
  readonly error: KubeError;
  /** Sending the same request twice leaves the same result as sending it once. */
  readonly idempotent: boolean;
  /** 1 after the first attempt failed. */
  readonly attempt: number;
  readonly random: () => number;
}

/**
 * Milliseconds to wait before the next attempt, or undefined to give up.
 * 429 means that the server did nothing, so every request may be sent again. After a 5xx with `Retry-After`, a 503, or a
 * connection that broke, something may have been done: only idempotent requests are sent again.
 */
export function retryDelay({ error, idempotent, attempt, random }: RetryInput): number | undefined {
  if (attempt >= MAX_ATTEMPTS) return undefined;
  // A kept-alive connection that the server closed under the request: one more try, on a new connection.
  if (isLost(error.cause)) return idempotent && attempt === 1 ? 0 : undefined;
  const asked = error.retryAfterMs;
  const again = error.code === 429 || (idempotent && (error.code === 503 || (error.code >= 500 && asked !== undefined)));
  if (!again) return undefined;
  // Jitter on top, never below what the server asked for: a herd that comes back together is sent away again.
  const delay = (asked ?? 100 * 2 ** (attempt - 1)) * (1 + random() * 0.2);
  return delay > LONGEST_WAIT_MS * 1.2 ? undefined : delay;
}

function isLost(cause: unknown): boolean {
  return cause instanceof Error && 'code' in cause && ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'].includes(String(cause.code));
}
