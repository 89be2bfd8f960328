import type { Collection } from '../../store/index.ts';

/** Beyond these the memory starts anew. */
const most = 10_000;

/**
 * What collections looked like when they were last searched: how to read a question, before Postgres is asked anything. It may be
 * out of date, and says nothing of what can be found.
 */
export class KnownCollections {
  readonly #byName = new Map<string, Collection>();

  get(org: string, name: string): Collection | undefined {
    return this.#byName.get(keyOf(org, name));
  }

  set(collection: Collection): void {
    if (this.#byName.size >= most) this.#byName.clear();
    this.#byName.set(keyOf(collection.org, collection.name), collection);
  }

  delete(org: string, name: string): void {
    this.#byName.delete(keyOf(org, name));
  }
}

/** The name of an organisation has no slash. */
function keyOf(org: string, name: string): string {
  return `${org}/${name}`;
}
