/** Detects what a file leaves behind in the process that read it: changed objects of the language, and work that goes on. */

/** Returns prototypes and functions through which one file could reach the next. */
function languageObjects(): readonly object[] {
  const named = Object.getOwnPropertyNames(globalThis)
    .filter((name) => /^[A-Z]/u.test(name) || name === 'globalThis')
    .map((name) => Reflect.getOwnPropertyDescriptor(globalThis, name)?.value as unknown)
    .filter((value): value is object => typeof value === 'function' || (typeof value === 'object' && value !== null));
  const prototypes = named.map((value) => (value as { prototype?: unknown }).prototype).filter((value) => typeof value === 'object');
  const hidden = [
    Object.getPrototypeOf([][Symbol.iterator]()),
    Object.getPrototypeOf(async () => undefined),
    Object.getPrototypeOf(function* () {}),
    Object.getPrototypeOf(Uint8Array),
    Object.getPrototypeOf(Uint8Array.prototype),
  ];
  return [...new Set([...named, ...prototypes, ...hidden].filter((value): value is object => value !== null))];
}

type Described = ReadonlyMap<PropertyKey, unknown>;

function describe(object: object): Described {
  const properties = new Map<PropertyKey, unknown>();
  for (const key of Reflect.ownKeys(object)) {
    const { value, get } = Reflect.getOwnPropertyDescriptor(object, key) ?? {};
    properties.set(key, get ?? value);
  }
  return properties;
}

/** Remembers the language's objects and running work. @returns a function that names a difference, if there is one */
export function rememberState(): () => string | undefined {
  const objects = languageObjects().map((object) => [object, describe(object)] as const);
  const running = process.getActiveResourcesInfo().length;
  return () => {
    if (process.getActiveResourcesInfo().length > running) return 'work';
    return objects.every(([object, before]) => same(before, object)) ? undefined : 'language';
  };
}

function same(before: Described, object: object): boolean {
  const keys = Reflect.ownKeys(object);
  if (keys.length !== before.size) return false;
  return keys.every((key) => {
    const { value, get } = Reflect.getOwnPropertyDescriptor(object, key) ?? {};
    return before.has(key) && Object.is(before.get(key), get ?? value);
  });
}
