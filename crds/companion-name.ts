import { createHash } from 'node:crypto';

/** `metadata.name` of a Secret or ConfigMap has at most this many characters. */
const LONGEST_NAME = 253;

/**
 * Returns the usual name of the Secret or ConfigMap that is kept for an object: the facade keeps values there, and the operator the
 * signing keys that it generates. Both, and who reads them, have to agree about it.
 */
export function companionName(kind: string, name: string): string {
  const full = `${kind.toLowerCase()}-${name}`;
  if (full.length <= LONGEST_NAME) return full;
  return `${full.slice(0, 230).replace(/[-.]+$/, '')}-${createHash('sha256').update(full).digest('hex').slice(0, 12)}`;
}
