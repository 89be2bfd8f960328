/**
 * Fills `{{name}}` in texts that an agent's owner wrote: prompts, messages, addresses, headers, bodies.
 *
 * One pass over the text leaves placeholders inside of values as they are, so that data can't reach other data.
 */

/** The data of a call by name: registered with the call, or looked up before it began. */
export type DynamicData = Readonly<Record<string, unknown>>;

/** Calls to a phone number bring these names by themselves. */
export const callerNames = ['from_number', 'to_number'] as const;

/** Takes linear time: no part can match the other's characters. */
const PLACEHOLDER = /\{\{([^{}]+)\}\}/g;

/**
 * Fills `{{name}}` and `{{ name }}`. An unknown name, or null, becomes nothing; objects and lists become JSON.
 *
 * @param encode applied to each value before it is put in
 */
export function fillTemplate(text: string, data: DynamicData, encode: (value: string) => string = (value) => value): string {
  return text.replaceAll(PLACEHOLDER, (_all, name: string) => encode(formatValue(lookUp(name.trim(), data))));
}

/**
 * Fills the strings of a JSON value, keys aside. A string that is one placeholder and nothing else becomes the value itself, whatever its
 * type; undefined for an unknown name.
 */
export function fillValue(value: unknown, data: DynamicData): unknown {
  if (typeof value === 'string') {
    const [all, name = ''] = /^\s*\{\{([^{}]+)\}\}\s*$/.exec(value) ?? [];
    return all === undefined ? fillTemplate(value, data) : lookUp(name.trim(), data);
  }
  if (Array.isArray(value)) return value.map((item) => fillValue(item, data) ?? null);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]) => {
      const filled = fillValue(item, data);
      return filled === undefined ? [] : [[key, filled]];
    }),
  );
}

/**
 * Returns a value by its name or, where nothing has that very name, by its path: `customer.address.city`, `orders.0.id`.
 *
 * @returns undefined for an unknown name
 */
export function lookUp(name: string, data: DynamicData): unknown {
  if (Object.hasOwn(data, name)) return data[name];
  let found: unknown = data;
  for (const step of name.split('.')) {
    // Looks at own members only: `constructor` and the length of a list are not data.
    if (typeof found !== 'object' || found === null || !Object.prototype.propertyIsEnumerable.call(found, step)) return undefined;
    found = (found as Readonly<Record<string, unknown>>)[step];
  }
  return found;
}

export function formatValue(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Returns the names that {@link fillTemplate} looks up in a text, each once. */
export function namesIn(text: string): readonly string[] {
  return [...new Set(Array.from(text.matchAll(PLACEHOLDER), ([, name = '']) => name.trim()))];
}

/** Texts that may hold placeholders, with their paths. */
export type Templates = readonly (readonly [path: string, text: string])[];

/** Returns the texts in a JSON value, of which {@link fillValue} fills each; absent is fine. */
export function stringsIn(value: unknown, path: string): Templates {
  if (typeof value === 'string') return [[path, value]];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, child]) => stringsIn(child, Array.isArray(value) ? `${path}[${key}]` : `${path}.${key}`));
}
