import { fileURLToPath } from 'node:url';

import { S3Client } from '@aws-sdk/client-s3';

import { DirectoryStorage } from './directory-storage.ts';
import type { FileStorage } from './file-storage.ts';
import { S3Storage } from './s3-storage.ts';

export interface OpenedFileStorage extends FileStorage {
  /** Ends the connections that are kept. */
  close(): void;
}

/**
 * Opens the storage that `STORAGE_URL` names; nothing is asked of it yet.
 *
 * - `file:///folder`
 * - `s3://bucket/prefix?endpoint=https://…&region=…&forcePathStyle=true`, all parameters optional. Credentials, and the
 *   region where absent, come from AWS's own variables, profiles or the pod's identity.
 *
 * @param options.credentials instead of those
 * @throws RangeError for an address that can't be read
 */
export function openFileStorage(options: {
  readonly url: string;
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string };
}): OpenedFileStorage {
  const url = URL.parse(options.url);
  if (url?.protocol === 'file:' && url.host === '' && url.search === '') {
    return Object.assign(new DirectoryStorage(fileURLToPath(url)), { close: () => undefined });
  }
  if (url?.protocol !== 's3:' || url.hostname === '' || url.username !== '') {
    throw new RangeError('STORAGE_URL must be file:///folder or s3://bucket/prefix?endpoint=…&region=…&forcePathStyle=true');
  }
  const { endpoint, region, forcePathStyle } = s3Parameters(url);
  const client = new S3Client({
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(region === undefined ? {} : { region }),
    ...(options.credentials === undefined ? {} : { credentials: options.credentials }),
    forcePathStyle: forcePathStyle ?? false,
    maxAttempts: 3,
    // In milliseconds: until connected, until the head of the answer, without a byte.
    requestHandler: { connectionTimeout: 5000, requestTimeout: 60_000, throwOnRequestTimeout: true, socketTimeout: 60_000 },
    // Not every server that speaks the protocol knows the checksums that the client would add by itself.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
  const path = url.pathname.replace(/^\/+|\/+$/g, '');
  const storage = new S3Storage({ client, bucket: url.hostname, prefix: path === '' ? '' : `${path}/` });
  return Object.assign(storage, { close: () => client.destroy() });
}

function s3Parameters(url: URL): { endpoint?: string; region?: string; forcePathStyle?: boolean } {
  const known = new Set(['endpoint', 'region', 'forcePathStyle']);
  const unknown = [...url.searchParams.keys()].filter((name) => !known.has(name));
  if (unknown.length > 0) throw new RangeError(`STORAGE_URL has ${unknown.join(', ')}; known are ${[...known].join(', ')}`);
  const endpoint = url.searchParams.get('endpoint');
  const region = url.searchParams.get('region') ?? (endpoint === null ? null : 'us-east-1');
  const forcePathStyle = url.searchParams.get('forcePathStyle');
  if (endpoint !== null && !/^https?:$/.test(URL.parse(endpoint)?.protocol ?? '')) {
    throw new RangeError('the endpoint in STORAGE_URL must be an http:// or https:// address');
  }
  if (forcePathStyle !== null && forcePathStyle !== 'true' && forcePathStyle !== 'false') {
    throw new RangeError('forcePathStyle in STORAGE_URL must be true or false');
  }
  return {
    ...(endpoint === null ? {} : { endpoint }),
    ...(region === null ? {} : { region }),
    ...(forcePathStyle === null ? {} : { forcePathStyle: forcePathStyle === 'true' }),
  };
}
