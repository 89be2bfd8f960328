import { StorageError } from './storage-error.ts';

/** What S3 and the client for it throw, as far as it is looked at. */
interface S3Complaint {
  readonly name?: string;
  readonly message?: string;
  readonly code?: unknown;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

/** Answers with a status below 500 that nevertheless pass. */
const passing = new Set([
  'RequestTimeout',
  'SlowDown',
  'Throttling',
  'TooManyRequests',
  'OperationAborted',
  'ServiceUnavailable',
  'InternalError',
]);

/** Puts a failure of the S3 client into the vocabulary of {@link StorageError}. */
export function s3Failure(error: unknown, at: { readonly bucket: string; readonly key: string }): unknown {
  if (error instanceof StorageError || !(error instanceof Error)) return error;
  const complaint = error as S3Complaint;
  const status = complaint.$metadata?.httpStatusCode;
  const name = complaint.name ?? '';
  const failure = (kind: StorageError['kind'], message: string): StorageError => new StorageError(kind, message, { cause: error });
  if (name === 'NoSuchBucket') return failure('refused', `there is no bucket ${at.bucket}: create it, or correct STORAGE_URL`);
  if (name === 'NoSuchKey' || name === 'NotFound') return failure('not_found', `there is no file ${at.key} in the storage`);
  if (name === 'EntityTooLarge') return failure('too_large', `the storage takes no file as long as ${at.key}`);
  if (name === 'CredentialsProviderError') {
    return failure(
      'refused',
      `there are no credentials for the bucket ${at.bucket}: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give the pod a role`,
    );
  }
  const refused = status !== undefined && status >= 400 && status < 500 && status !== 408 && status !== 429 && !passing.has(name);
  const detail = `${name === 'Error' ? '' : `${name}: `}${error.message}`;
  if (refused) return failure('refused', `the bucket ${at.bucket} refused the request (${detail}): check credentials and permissions`);
  return failure('unavailable', `the bucket ${at.bucket} can't be reached (${detail})`);
}
