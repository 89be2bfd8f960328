import { untilAborted } from '../platform/aborted.ts';
import { Pacer } from '../platform/pacer.ts';
import { compareResourceVersions, isOrderable } from './resource-version.ts';
import { keyOf, type KubeObject, type ObjectKey, type Stored } from './types.ts';

/** Read side of a watch cache. What it returns is frozen and shared: never the caller's to change. */
export interface Cache<T> {
  get(key: ObjectKey): T | undefined;
  /** Lists every object, in no particular order; a snapshot that later changes leave alone. */
  list(): readonly T[];
  /**
   * Returns the objects for which the named index returned `value`.
   * @throws RangeError when there is no such index.
   */
  byIndex(index: string, value: string): readonly T[];
  readonly size: number;
  /** The first listing is complete: an object that isn't here doesn't exist. */
  readonly synced: boolean;
  /** Everything up to this point in the server's history is in here; `''` until synced. */
  readonly resourceVersion: string;
  /**
   * Resolves once this cache has seen the state that a write answered with (read your own writes).
   * Rejects with the signal's reason, or when the cache is closed.
   * @throws RangeError when `resourceVersion` isn't one of the server's.
   */
  waitFor(resourceVersion: string, signal?: AbortSignal): Promise<void>;
}

/** Values under which an object is found through an index. */
export type IndexFunction<T> = (object: T) => readonly string[];

export type CacheChange<T> =
  | { readonly type: 'added'; readonly object: T }
  | { readonly type: 'modified'; readonly object: T; readonly previous: T }
  | { readonly type: 'deleted'; readonly object: T };

interface Waiter extends PromiseWithResolvers<void> {
  readonly resourceVersion: string;
}

interface Entry<T> {
  readonly object: T;
  /** Per index, the values the object stands under; they are needed to take it out again. */
  readonly values: readonly (readonly string[])[];
}

export interface WatchCacheOptions<T extends KubeObject> {
  readonly indexes?: Readonly<Record<string, IndexFunction<Stored<T>>>>;
  /** An index function threw: the object stands under no value of that index. */
  readonly onIndexError?: (error: unknown, index: string, key: ObjectKey) => void;
}

type Index<T> = Map<string, Map<ObjectKey, T>>;

/** The cache that a reflector keeps up to date. One writer, any number of readers. */
export class WatchCache<T extends KubeObject> implements Cache<Stored<T>> {
  readonly #indexNames: readonly string[];
  readonly #indexFunctions: readonly IndexFunction<Stored<T>>[];
  readonly #onIndexError: (error: unknown, index: string, key: ObjectKey) => void;
  readonly #waiters = new Set<Waiter>();
  #entries = new Map<ObjectKey, Entry<Stored<T>>>();
  #indexes: readonly Index<Stored<T>>[];
  #resourceVersion = '';
  #closed: Error | undefined;

  constructor(options: WatchCacheOptions<T> = {}) {
    this.#onIndexError = options.onIndexError ?? (() => undefined);
    const indexes = Object.entries(options.indexes ?? {});
    this.#indexNames = indexes.map(([name]) => name);
    this.#indexFunctions = indexes.map(([, values]) => values);
    this.#indexes = this.#indexFunctions.map(() => new Map());
  }

  get(key: ObjectKey): Stored<T> | undefined {
    return this.#entries.get(key)?.object;
  }

  list(): readonly Stored<T>[] {
    return Array.from(this.#entries.values(), (entry) => entry.object);
  }

  byIndex(index: string, value: string): readonly Stored<T>[] {
    const number = this.#indexNames.indexOf(index);
    if (number < 0) throw new RangeError(`no index ${JSON.stringify(index)}; there is ${this.#indexNames.join(', ') || 'none'}`);
    const found = this.#indexes[number]?.get(value);
    return found ? [...found.values()] : [];
  }

  get size(): number {
    return this.#entries.size;
  }

  get synced(): boolean {
    return this.#resourceVersion !== '';
  }

  get resourceVersion(): string {
    return this.#resourceVersion;
  }

  async waitFor(resourceVersion: string, signal?: AbortSignal): Promise<void> {
    if (this.#reached(resourceVersion)) return;
    signal?.throwIfAborted();
    if (this.#closed) throw this.#closed;
    const waiter: Waiter = { resourceVersion, ...Promise.withResolvers<void>() };
    this.#waiters.add(waiter);
    await untilAborted(waiter.promise, signal).finally(() => this.#waiters.delete(waiter));
  }

  /**
   * Takes one object in. An object with the same name and another uid is another object: the old one's deletion comes first.
   * An object that is older than the one that is here, or the same, changes nothing.
   */
  put(object: Stored<T>): readonly CacheChange<Stored<T>>[] {
    const key = keyOf(object);
    const old = this.#entries.get(key);
    if (old && !isNewer(object, old.object)) return [];
    if (old && old.object.metadata.uid === object.metadata.uid) {
      this.#write(key, this.#entryOf(object));
      return [{ type: 'modified', object, previous: old.object }];
    }
    this.#write(key, this.#entryOf(object));
    return old
      ? [
          { type: 'deleted', object: old.object },
          { type: 'added', object },
        ]
      : [{ type: 'added', object }];
  }

  /** Takes one object out. `last` is its last state as the server reported it, where it did. */
  remove(key: ObjectKey, last?: Stored<T>): readonly CacheChange<Stored<T>>[] {
    const old = this.#entries.get(key);
    // The deletion of a namesake that was replaced before this message does not affect the present object.
    if (!old || (last && old.object.metadata.uid !== last.metadata.uid)) return [];
    this.#write(key, undefined);
    return [{ type: 'deleted', object: last ? freezeDeep(last) : old.object }];
  }

  /** Records that the server has sent everything up to here. */
  advanceTo(resourceVersion: string): void {
    this.#resourceVersion = resourceVersion;
    for (const waiter of this.#waiters) if (this.#reached(waiter.resourceVersion)) waiter.resolve();
  }

  /**
   * Puts a complete listing in place of what is here, in one step: readers see the old state or the new one, nothing between.
   * The work before that step is cut into slices.
   * @returns the differences, deletions that were missed among them.
   */
  async replace(objects: readonly Stored<T>[], resourceVersion: string): Promise<readonly CacheChange<Stored<T>>[]> {
    const pacer = new Pacer();
    const entries = new Map<ObjectKey, Entry<Stored<T>>>();
    const indexes: readonly Index<Stored<T>>[] = this.#indexFunctions.map(() => new Map());
    const changes: CacheChange<Stored<T>>[] = [];
    const arrived: CacheChange<Stored<T>>[] = [];
    for (const object of objects) {
      if (pacer.due) await pacer.pause();
      const key = keyOf(object);
      const old = this.#entries.get(key);
      // An unchanged object keeps its identity, so that what readers derived from it stays valid.
      const same = old !== undefined && sameState(old.object, object);
      const entry = same ? old : this.#entryOf(object);
      entries.set(key, entry);
      addTo(indexes, key, entry);
      if (same) continue;
      if (old && old.object.metadata.uid === object.metadata.uid)
        arrived.push({ type: 'modified', object: entry.object, previous: old.object });
      else arrived.push({ type: 'added', object: entry.object });
    }
    for (const [key, { object }] of this.#entries) {
      if (pacer.due) await pacer.pause();
      if (entries.get(key)?.object.metadata.uid !== object.metadata.uid) changes.push({ type: 'deleted', object });
    }
    this.#entries = entries;
    this.#indexes = indexes;
    this.advanceTo(resourceVersion);
    return changes.concat(arrived);
  }

  /** Ends the changes: pending waits reject. */
  close(reason: Error): void {
    this.#closed = reason;
    for (const waiter of this.#waiters) waiter.reject(reason);
  }

  #reached(resourceVersion: string): boolean {
    if (!isOrderable(resourceVersion)) compareResourceVersions(resourceVersion, '0'); // throws, also before the cache is synced
    return this.#resourceVersion !== '' && compareResourceVersions(this.#resourceVersion, resourceVersion) >= 0;
  }

  #entryOf(object: Stored<T>): Entry<Stored<T>> {
    freezeDeep(object);
    return { object, values: this.#indexFunctions.map((values, number) => this.#valuesOf(values, number, object)) };
  }

  #valuesOf(values: IndexFunction<Stored<T>>, number: number, object: Stored<T>): readonly string[] {
    try {
      return [...new Set(values(object))];
    } catch (error) {
      this.#onIndexError(error, this.#indexNames[number] ?? '', keyOf(object));
      return [];
    }
  }

  #write(key: ObjectKey, entry: Entry<Stored<T>> | undefined): void {
    const old = this.#entries.get(key);
    if (old) removeFrom(this.#indexes, key, old);
    if (!entry) {
      this.#entries.delete(key);
      return;
    }
    this.#entries.set(key, entry);
    addTo(this.#indexes, key, entry);
  }
}

function addTo<T>(indexes: readonly Index<T>[], key: ObjectKey, entry: Entry<T>): void {
  entry.values.forEach((values, number) => {
    const target = indexes[number];
    for (const value of values) {
      const found = target?.get(value);
      if (found) found.set(key, entry.object);
      else target?.set(value, new Map([[key, entry.object]]));
    }
  });
}

function removeFrom<T>(indexes: readonly Index<T>[], key: ObjectKey, entry: Entry<T>): void {
  entry.values.forEach((values, number) => {
    const target = indexes[number];
    for (const value of values) {
      const found = target?.get(value);
      found?.delete(key);
      // Values come and go without bound; an index holds only those that still lead somewhere.
      if (found?.size === 0) target?.delete(value);
    }
  });
}

function sameState(a: KubeObject, b: KubeObject): boolean {
  return a.metadata.uid === b.metadata.uid && a.metadata.resourceVersion === b.metadata.resourceVersion;
}

function isNewer<T extends KubeObject>(object: Stored<T>, old: Stored<T>): boolean {
  return compareResourceVersions(object.metadata.resourceVersion, old.metadata.resourceVersion) > 0;
}

/**
 * Freezes a JSON value through and through, in place. A frozen part is taken to be frozen below as well.
 * Never recurses: one object that overflowed the stack would keep the whole kind from being watched.
 */
function freezeDeep<T extends object>(value: T): T {
  const rest: object[] = [value];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    if (Object.isFrozen(next)) continue;
    Object.freeze(next);
    for (const child of Object.values(next) as readonly unknown[]) if (typeof child === 'object' && child !== null) rest.push(child);
  }
  return value;
}
