import { StorageError } from './storage-error.ts';

const segment = /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/;

/**
 * Keys are made by Parley, of ids: letters, digits, `.`, `_`, `-`, and `/` between segments, none of which begins with a
 * dot. So a key can't leave its folder, meet a temporary file or need quoting anywhere, even if an id came from outside.
 *
 * @throws StorageError `refused`
 */
export function checkKey(key: string): void {
  if (key.length <= 512 && key.split('/').every((part) => segment.test(part))) return;
  throw new StorageError('refused', `${JSON.stringify(key.slice(0, 100))} is no storage key`);
}

/** The beginning of a key, which may end in the middle of a segment or with a slash; `''` is all. @throws StorageError `refused` */
export function checkPrefix(prefix: string): void {
  if (prefix !== '') checkKey(prefix.endsWith('/') ? prefix.slice(0, -1) : prefix);
}
