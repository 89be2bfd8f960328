/** The reconcile ended without a result, because what it read may not last: nothing is concluded, and it is repeated soon. */
export class UnsettledError extends Error {
  override readonly name = 'UnsettledError';
  /** When to reconcile again, in milliseconds. */
  readonly retryAfterMs: number;

  constructor(message: string, retryAfterMs: number) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}
