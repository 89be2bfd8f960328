import { createHash } from 'node:crypto';

/**
 * JSON with sorted keys and no white space: equal values give equal bytes. Fields that are `undefined` are left out.
 * Like RFC 8785 for the values a resource can hold (no number beyond what a double says exactly).
 */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const known = memoized.get(value);
  if (known !== undefined) return known;
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(',')}]`;
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, field]) => `${JSON.stringify(key)}:${canonicalJson(field)}`);
  return `{${fields.join(',')}}`;
}

/** Of the values that {@link memoizeCanonicalJson} was given. */
const memoized = new WeakMap<object, string>();

/** Computes the canonical JSON of a value that is never changed in place only once. */
export function memoizeCanonicalJson<T extends object>(value: T): T {
  memoized.set(value, canonicalJson(value));
  return value;
}

/** Lower-case hexadecimal SHA-256. */
export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
