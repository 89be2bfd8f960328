import { randomBytes } from 'node:crypto';

const base32 = 'abcdefghijklmnopqrstuvwxyz234567';

/** `length` random characters of RFC 4648's base32, lower case: 5 bits each. */
export function randomId(length = 16): string {
  return [...randomBytes(length)].map((byte) => base32[byte % 32]).join('');
}

/** Whether `id` can be the name of an object: RFC 1123 subdomain, at most 253 characters. Nothing else is ever asked for. */
export function isObjectName(id: string): boolean {
  return id.length <= 253 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(id);
}
