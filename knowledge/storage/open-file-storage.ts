import { fileURLToPath } from 'node:url';

import { lazily } from '../../platform/lazily.ts';
import { DirectoryStorage } from './directory-storage.ts';
import type { OpenedFileStorage } from './file-storage.ts';

/**
 * Opens the storage that `STORAGE_URL` names, and sends it nothing yet.
 *
 * - `file:///folder`
 * - `s3://bucket/prefix?endpoint=https://…&region=…&forcePathStyle=true`, all parameters optional. Credentials, and the
 *   region where absent, come from AWS's own variables, profiles or the pod's identity.
 *
 * @param options.credentials replace these
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
  const path = url.pathname.replace(/^\/+|\/+$/g, '');
  const s3 = {
    ...s3Parameters(url),
    bucket: url.hostname,
    prefix: path === '' ? '' : `${path}/`,
    ...(options.credentials === undefined ? {} : { credentials: options.credentials }),
  };
  return openedWhenUsed(async () => new (await import('./s3-storage.ts')).S3Storage(s3));
}

/** Loads the storage at first use: the client of S3 is a fifth of what a role would load at its start. */
function openedWhenUsed(open: () => Promise<OpenedFileStorage>): OpenedFileStorage {
  const storage = lazily(open);
  return {
    put: async (key, content, limits) => (await storage.get()).put(key, content, limits),
    read: async (key, range) => (await storage.get()).read(key, range),
    delete: async (key) => (await storage.get()).delete(key),
    list: async (prefix, page) => (await storage.get()).list(prefix, page),
    health: async () => (await storage.get()).health(),
    close: () => void storage.close((opened) => opened.close()),
  };
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
