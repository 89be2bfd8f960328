/** A plain JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** @returns the value of the text; `otherwise` for text that is no JSON */
export function parseJson(text: string, otherwise?: unknown): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return otherwise;
  }
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Tells whether two values are equal as JSON: the order of an object's fields doesn't count, and an undefined field is an absent one. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, index) => sameJson(item, b[index]));
  if (!isObject(a) || !isObject(b)) return false;
  const keys = presentKeys(a);
  return keys.length === presentKeys(b).length && keys.every((key) => Object.hasOwn(b, key) && sameJson(a[key], b[key]));
}

function presentKeys(object: JsonObject): readonly string[] {
  return Object.keys(object).filter((key) => object[key] !== undefined);
}
