import { createHash } from 'node:crypto';

/**
 * JSON with sorted keys and no white space: equal values give equal bytes. Fields that are `undefined` are left out.
 * Like RFC 8785 for the values a resource can hold (no number beyond what a double says exactly).
 * Never recurses: what a resource holds may be nested to any depth.
 */
export function canonicalJson(value: unknown): string {
  // Last first: texts that are ready, and values of which each becomes several parts.
  const rest = [partOf(value)];
  let json = '';
  for (let part = rest.pop(); part !== undefined; part = rest.pop()) {
    if (typeof part === 'string') json += part;
    else if (Array.isArray(part)) pushItems(rest, part);
    else pushFields(rest, part);
  }
  return json;
}

type Part = string | object;

function partOf(value: unknown): Part {
  return typeof value === 'object' && value !== null ? (memoized.get(value) ?? value) : (JSON.stringify(value) ?? 'null');
}

function pushItems(rest: Part[], items: readonly unknown[]): void {
  rest.push(items.length === 0 ? '[]' : ']');
  for (let index = items.length - 1; index >= 0; index -= 1) rest.push(partOf(items[index]), index === 0 ? '[' : ',');
}

function pushFields(rest: Part[], object: object): void {
  const fields = Object.entries(object)
    .filter(([, field]) => field !== undefined)
    .sort(([a], [b]) => (a < b ? 1 : -1));
  rest.push(fields.length === 0 ? '{}' : '}');
  fields.forEach(([key, field], index) => rest.push(partOf(field), `${index === fields.length - 1 ? '{' : ','}${JSON.stringify(key)}:`));
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
