/** Why there is no vector. */

export type EmbeddingErrorCode =
  /** No connection, 5xx, or an answer that broke off. */
  | 'unavailable'
  /** 429 until the attempts ran out. */
  | 'rate_limited'
  | 'timeout'
  /** 401 or 403. */
  | 'unauthorized'
  /** The server says that the request is wrong, or the text too long even by itself. */
  | 'refused'
  /** Too few vectors, numbers that are none, only zeros. */
  | 'invalid_response'
  /** Vectors of another length than the profile says. */
  | 'wrong_dimension'
  /** The profile, its credential or its model is missing or doesn't fit the knowledge base. */
  | 'misconfigured';

const RETRYABLE: ReadonlySet<EmbeddingErrorCode> = new Set(['unavailable', 'rate_limited', 'timeout']);

/** The message never holds a credential, a text or anything that the server said. */
export class EmbeddingError extends Error {
  override readonly name = 'EmbeddingError';
  readonly code: EmbeddingErrorCode;
  /** Whether the same call may work later, with nothing changed. */
  readonly retryable: boolean;
  /** What the server asked to wait before that, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(code: EmbeddingErrorCode, message: string, retryAfterMs?: number) {
    super(message);
    this.code = code;
    this.retryable = RETRYABLE.has(code);
    this.retryAfterMs = retryAfterMs;
  }
}
