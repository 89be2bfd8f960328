/**
 * - `unavailable`: no answer from the store, or none in time; the same call may succeed later.
 * - `refused`: the store turned the call away; a person has to correct the configuration.
 * - `invalid`: about the arguments of the call.
 */
export type VectorStoreErrorKind = 'unavailable' | 'refused' | 'invalid';

/** Everything that can go wrong in a vector store. Messages carry neither text nor vectors. */
export class VectorStoreError extends Error {
  override readonly name = 'VectorStoreError';
  readonly kind: VectorStoreErrorKind;

  constructor(kind: VectorStoreErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }

  /** The same call may succeed later, unchanged. */
  get retryable(): boolean {
    return this.kind === 'unavailable';
  }
}
