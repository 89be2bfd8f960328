/** The keys of Standard Webhooks: how they are written, made, and kept in a Secret. */
import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';

/** Ready to sign with; what it holds can't be printed by accident. */
export type SigningKey = KeyObject;

/** Every key begins with this. Source: Standard Webhooks 1.0.0, "Signature scheme". */
const PREFIX = 'whsec_';

/** Length of keys that are made here. */
const GENERATED_BYTES = 32;

/** @returns a new key in its written form, `whsec_` and base64 */
export function generateSigningKey(random: (size: number) => Buffer = randomBytes): string {
  return `${PREFIX}${random(GENERATED_BYTES).toString('base64')}`;
}

/** Bounds of a key's length, in bytes. Source: as above. */
const SHORTEST = 24;
const LONGEST = 64;

/** @returns undefined for an invalid key: no prefix, no base64, fewer than 24 or more than 64 bytes */
export function parseSigningKey(text: string): SigningKey | undefined {
  const trimmed = text.trim();
  if (!trimmed.startsWith(PREFIX)) return undefined;
  const encoded = trimmed.slice(PREFIX.length);
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(encoded) || encoded.replace(/=+$/, '').length % 4 === 1) return undefined;
  const bytes = Buffer.from(encoded, 'base64');
  return bytes.length < SHORTEST || bytes.length > LONGEST ? undefined : createSecretKey(bytes);
}
