/** The world gave an answer that may not last: nothing is concluded from it, and the object is looked at again soon. */
export class UnsettledError extends Error {
  override readonly name = 'UnsettledError';
  /** When to look again, in milliseconds. */
  readonly retryAfterMs: number;

  constructor(message: string, retryAfterMs: number) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}
