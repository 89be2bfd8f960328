import { compareResourceVersions, keyOf, type KubeObject, type Stored } from '../../kube/index.ts';

/**
 * What this process has just written and the informer has not brought back yet. Without it a reconcile that follows
 * closely would compare with an old status and write the same thing twice.
 */
export class PendingWrites<T extends KubeObject> {
  readonly #written = new Map<string, Stored<T>>();

  /** The answer to a write. */
  record(object: Stored<T>): void {
    this.#written.set(keyOf(object), object);
  }

  /** The newer of what the cache holds and what was written. */
  latest(key: string, cached: Stored<T> | undefined): Stored<T> | undefined {
    const written = this.#written.get(key);
    if (written === undefined || cached === undefined || written.metadata.uid !== cached.metadata.uid) {
      this.#written.delete(key);
      return cached;
    }
    if (compareResourceVersions(written.metadata.resourceVersion, cached.metadata.resourceVersion) > 0) return written;
    this.#written.delete(key);
    return cached;
  }

  /**
   * Whether a watch event is no more than the echo of our own last write. An older state isn't: it may be somebody's
   * change that came between our read and our write.
   */
  isEcho(object: Stored<T>): boolean {
    const written = this.#written.get(keyOf(object));
    return (
      written !== undefined &&
      written.metadata.uid === object.metadata.uid &&
      written.metadata.resourceVersion === object.metadata.resourceVersion
    );
  }

  forget(key: string): void {
    this.#written.delete(key);
  }
}
