/** How the storage of files can fail. */

export type StorageErrorKind =
  /** The storage can't be reached or is out of order: try again. */
  | 'unavailable'
  | 'not_found'
  | 'too_large'
  /** It answered, and won't: wrong credentials, no such bucket, a read-only folder, a bad key. Trying again changes nothing. */
  | 'refused';

export class StorageError extends Error {
  override readonly name = 'StorageError';
  readonly kind: StorageErrorKind;

  /** @param message names the storage or the key, and what to do */
  constructor(kind: StorageErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }

  get retryable(): boolean {
    return this.kind === 'unavailable';
  }
}
