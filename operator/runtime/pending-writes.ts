import { compareResourceVersions, keyOf, type KubeObject, type Stored } from '../../kube/index.ts';

/**
 * Objects that this process has written and the informer has not received yet. Without them the next reconcile would
 * compare with an old status and write it twice.
 */
export class PendingWrites<T extends KubeObject> {
  readonly #written = new Map<string, Stored<T>>();

  record(object: Stored<T>): void {
    this.#written.set(keyOf(object), object);
  }

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
   * Whether a watch event is the echo of our own last write. An older state isn't: it may be another client's change
   * between our read and our write.
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
