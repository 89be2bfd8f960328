import { createHash } from 'node:crypto';

/** Recursion takes this many levels, whose texts are quick to join: no sound resource has more. */
const SHALLOW = 64;

/**
 * Returns JSON with sorted keys and no white space: equal values give equal bytes. Fields that are `undefined` are left out. It equals RFC
 * 8785 for the values a resource can hold (no number beyond what a double says exactly), which may be nested to any depth.
 */
export function canonicalJson(value: unknown): string {
  return shallowJson(value, SHALLOW);
}

function shallowJson(value: unknown, levels: number): string {
  const part = partOf(value);
  if (typeof part === 'string') return part;
  if (levels === 0) return deepJson(part);
  if (Array.isArray(part)) return `[${part.map((item) => shallowJson(item, levels - 1)).join(',')}]`;
  return `{${fieldsOf(part)
    .map(([key, field]) => `${JSON.stringify(key)}:${shallowJson(field, levels - 1)}`)
    .join(',')}}`;
}

function fieldsOf(object: object): readonly (readonly [string, unknown])[] {
  return Object.entries(object)
    .filter(([, field]) => field !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Works without recursion. The text is made of as many pieces as the value has; joining them takes time at its first use. */
function deepJson(value: object): string {
  // The stack holds, last first, texts that are ready and values of which each becomes several parts.
  const rest: Part[] = [value];
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
  const fields = fieldsOf(object).toReversed();
  rest.push(fields.length === 0 ? '{}' : '}');
  fields.forEach(([key, field], index) => rest.push(partOf(field), `${index === fields.length - 1 ? '{' : ','}${JSON.stringify(key)}:`));
}

/** Texts of the values that {@link memoizeCanonicalJson} was given. */
const memoized = new WeakMap<object, string>();

/** Computes the canonical JSON of a value that is never changed in place only once. */
export function memoizeCanonicalJson<T extends object>(value: T): T {
  memoized.set(value, canonicalJson(value));
  return value;
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
