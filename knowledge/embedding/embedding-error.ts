/** The reason why there is no vector. */

export type EmbeddingErrorCode =
  /** The server had no connection, answered 5xx, or its answer broke off. */
  | 'unavailable'
  /** The server answered 429 until the attempts ran out. */
  | 'rate_limited'
  | 'timeout'
  /** The server answered 401 or 403. */
  | 'unauthorized'
  /** The server says that the request is wrong, or the text too long even by itself. */
  | 'refused'
  /** The answer has too few vectors, values that are no numbers, or only zeros. */
  | 'invalid_response'
  /** The vectors have another length than the profile says. */
  | 'wrong_dimension'
  /** The profile, its credential or its model is missing or doesn't fit the knowledge base. */
  | 'misconfigured';

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
