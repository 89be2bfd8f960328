/** Objects, their order of change, and who is told of it. What etcd and the watch cache are to the API server. */
import { RefusalError } from './refusal.ts';
import type { Json } from './schema.ts';

export interface StoredObject {
  readonly resource: string;
  /** `namespace/name`, or `/name`. */
  readonly key: string;
  readonly object: Json;
}

export interface Change {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly resource: string;
  readonly resourceVersion: number;
  readonly object: Json;
  readonly previous?: Json | undefined;
}

export type Listener = (change: Change) => void;

export class Store {
  readonly #objects = new Map<string, StoredObject>();
  readonly #listeners = new Set<Listener>();
  #history: Change[] = [];
  /** As far as history has been dropped. */
  #compacted = 0;
  #revision = 1;

  get revision(): number {
    return this.#revision;
  }

  get(resource: string, key: string): Json | undefined {
    return this.#objects.get(`${resource} ${key}`)?.object;
  }

  /** In the order of their keys, as etcd keeps them. */
  list(resource: string, namespace: string | undefined): readonly Json[] {
    const items: StoredObject[] = [];
    for (const stored of this.#objects.values()) {
      if (stored.resource === resource && (namespace === undefined || stored.key.startsWith(`${namespace}/`))) items.push(stored);
    }
    return items.sort((a, b) => (a.key < b.key ? -1 : 1)).map((stored) => stored.object);
  }

  /** @returns the object with its new resourceVersion. */
  put(resource: string, key: string, object: Json): Json {
    const previous = this.get(resource, key);
    const stored = this.#stamp(object);
    this.#objects.set(`${resource} ${key}`, { resource, key, object: stored });
    this.#tell({
      type: previous === undefined ? 'ADDED' : 'MODIFIED',
      resource,
      resourceVersion: this.#revision,
      object: stored,
      previous,
    });
    return stored;
  }

  /** The DELETED event carries the last state with the resourceVersion of the deletion. */
  remove(resource: string, key: string, last: Json): Json {
    const previous = this.get(resource, key);
    this.#objects.delete(`${resource} ${key}`);
    const object = this.#stamp(last);
    this.#tell({ type: 'DELETED', resource, resourceVersion: this.#revision, object, previous });
    return object;
  }

  /** Changes after a resourceVersion. @throws Refusal 410 when they have been dropped. */
  since(resource: string, resourceVersion: number): readonly Change[] {
    if (resourceVersion < this.#compacted) {
      throw new RefusalError({
        code: 410,
        reason: 'Expired',
        message: `too old resource version: ${resourceVersion} (${this.#compacted})`,
      });
    }
    return this.#history.filter((change) => change.resource === resource && change.resourceVersion > resourceVersion);
  }

  /** Drops history, as etcd's compaction does, up to a revision that nobody has seen yet. */
  compact(): void {
    this.#history = [];
    this.#revision++;
    this.#compacted = this.#revision;
  }

  get compacted(): number {
    return this.#compacted;
  }

  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #stamp(object: Json): Json {
    this.#revision++;
    return { ...object, metadata: { ...(object['metadata'] as Json), resourceVersion: String(this.#revision) } };
  }

  #tell(change: Change): void {
    this.#history.push(change);
    for (const listener of this.#listeners) listener(change);
  }
}
