import { afterAll, beforeAll } from 'vitest';

/**
 * Starts a fixture before the first test of the file or `describe`, and returns what `start` resolves with; after the last test its
 * `close` or else its `stop` is called. Fixtures start in the order in which they are declared and end in the opposite one.
 */
export function suiteFixture<T extends object>(start: () => T | Promise<T>): T {
  let started: (T & { close?(): unknown; stop?(): unknown }) | undefined;
  beforeAll(async () => {
    started = await start();
  });
  afterAll(() => (started?.close === undefined ? started?.stop?.() : started.close()));
  const current = (name: PropertyKey): T => {
    if (started === undefined) throw new Error(`${String(name)} of a fixture is read before its suite has begun`);
    return started;
  };
  return new Proxy({} as T, {
    get(_target, name) {
      const fixture = current(name);
      const value: unknown = Reflect.get(fixture, name, fixture);
      return typeof value === 'function' ? value.bind(fixture) : value;
    },
    set: (_target, name, value) => Reflect.set(current(name), name, value),
    has: (_target, name) => Reflect.has(current(name), name),
    // Callers may spread the fixture.
    ownKeys: () => Reflect.ownKeys(current('a property')),
    getOwnPropertyDescriptor(_target, name) {
      const found = Reflect.getOwnPropertyDescriptor(current(name), name);
      return found && { ...found, configurable: true };
    },
  });
}
