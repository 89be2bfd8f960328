import type { ModelFailure } from '../model-outcome.ts';

/** Why there is no vector; `wrong_dimension`: the vectors have another length than the profile says. */
export type EmbeddingErrorCode = ModelFailure | 'wrong_dimension';

const RETRYABLE: ReadonlySet<EmbeddingErrorCode> = new Set(['unavailable', 'rate_limited', 'timeout']);

/** The message never holds a credential, a text or anything that the server said. */
export class EmbeddingError extends Error {
  override readonly name = 'EmbeddingError';
  readonly code: EmbeddingErrorCode;
  /** True if the same call may succeed later, with nothing changed. */
  readonly retryable: boolean;
  /** The server's Retry-After, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(code: EmbeddingErrorCode, message: string, retryAfterMs?: number) {
    super(message);
    this.code = code;
    this.retryable = RETRYABLE.has(code);
    this.retryAfterMs = retryAfterMs;
  }
}
