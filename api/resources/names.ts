import { randomBytes } from 'node:crypto';

import { currentRequest } from '../http/request-state.ts';

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';

/** Returns `length` random characters of RFC 4648's base32, lower case: 5 bits each. */
export function randomId(length = 16, random: (size: number) => Buffer = randomBytes): string {
  return [...random(length)].map((byte) => BASE32[byte % 32]).join('');
}

/** Length of the suffix that keeps the names of objects with the same label apart: 40 bits. */
const SUFFIX_LENGTH = 8;
/** Length of the readable part: longer names make tables of kubectl unreadable. */
const READABLE_LENGTH = 40;

/** Returns a random suffix, and the same one again where a request is carried out once more. */
export const newSuffix = (): string => randomId(SUFFIX_LENGTH, currentRequest()?.randomBytes);

/**
 * Returns the name for an object made over REST: as much of its label as a name can hold, and a short suffix.
 *
 * @param kind its beginning where nothing of the label can be kept, as with one in Bangla
 * @param label its display name, where it has one
 */
export function readableName(kind: string, label: string | null | undefined, suffix = newSuffix()): string {
  const words = (label ?? '')
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, READABLE_LENGTH + 1)
    .replace(/^-+/, '');
  const readable = words.slice(0, READABLE_LENGTH).replace(/-+$/, '');
  return `${readable === '' ? kind : readable}-${suffix}`;
}

/** Returns the suffix, which orders objects of the same second: suffixes that were handed out together are in order. */
export function suffixOf(name: string): string {
  return name.slice(-SUFFIX_LENGTH);
}

/** Returns whether `id` can be the name of an object: RFC 1123 subdomain, at most 253 characters. Nothing else is ever asked for. */
export function isObjectName(id: string): boolean {
  return id.length <= 253 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(id);
}
