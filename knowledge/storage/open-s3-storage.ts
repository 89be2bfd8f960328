import { S3Client } from '@aws-sdk/client-s3';

import type { OpenedFileStorage } from './open-file-storage.ts';
import { S3Storage } from './s3-storage.ts';

export interface S3StorageOptions {
  readonly bucket: string;
  /** Empty, or with a slash at its end. */
  readonly prefix: string;
  readonly endpoint?: string;
  readonly region?: string;
  readonly forcePathStyle?: boolean;
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

/** A bucket, with connections of its own; nothing is asked of it yet. */
export function openS3Storage(options: S3StorageOptions): OpenedFileStorage {
  const { bucket, prefix, endpoint, region, forcePathStyle, credentials } = options;
  const client = new S3Client({
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(region === undefined ? {} : { region }),
    ...(credentials === undefined ? {} : { credentials }),
    forcePathStyle: forcePathStyle ?? false,
    maxAttempts: 3,
    // In milliseconds: until connected, until the head of the answer, without a byte.
    requestHandler: { connectionTimeout: 5000, requestTimeout: 60_000, throwOnRequestTimeout: true, socketTimeout: 60_000 },
    // Not every server that speaks the protocol knows the checksums that the client would add by itself.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
  return Object.assign(new S3Storage({ client, bucket, prefix }), { close: () => client.destroy() });
}
