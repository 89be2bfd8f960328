/** The keypad of a call in text. Keys come in whole entries, without pauses between them. */
import type { ToolKeypad } from '../../voice/tools/builtin/keypad.ts';

/** The key that ends an entry. */
const END = '#';

interface Collection {
  readonly count: number;
  readonly done: (keys: string) => void;
}

export class TextKeypad implements ToolKeypad {
  /** Tools that wait for keys. Tools of a turn run side by side: the first one gets the next entry. */
  #collections: readonly Collection[] = [];
  #begun = Promise.withResolvers<void>();

  /** Resolves when a tool waits for keys. */
  get waiting(): Promise<void> {
    return this.#begun.promise;
  }

  get isWaiting(): boolean {
    return this.#collections.length > 0;
  }

  async collect({ count, signal }: Parameters<ToolKeypad['collect']>[0]): Promise<string> {
    const { promise, resolve } = Promise.withResolvers<string>();
    const collection = { count, done: resolve };
    this.#collections = [...this.#collections, collection];
    this.#begun.resolve();
    const giveUp = (): void => this.#complete(collection, '');
    signal.addEventListener('abort', giveUp, { once: true });
    if (signal.aborted) giveUp();
    return promise.finally(() => signal.removeEventListener('abort', giveUp));
  }

  /** Does nothing: tones have no listener in text. */
  async press(): Promise<void> {}

  /** @returns the entries that no tool collects */
  enter(keys: string): readonly string[] {
    const entries: string[] = [];
    let entry = '';
    const complete = (): void => {
      const [first] = this.#collections;
      if (first !== undefined) this.#complete(first, entry);
      else if (entry !== '') entries.push(entry);
      entry = '';
    };
    for (const key of keys) {
      if (key !== END) entry += key;
      if (key === END || entry.length === this.#collections[0]?.count) complete();
    }
    if (entry !== '') complete();
    return entries;
  }

  /** The user presses no key. */
  giveUp(): void {
    for (const collection of this.#collections) this.#complete(collection, '');
  }

  #complete(collection: Collection, keys: string): void {
    collection.done(keys);
    this.#collections = this.#collections.filter((each) => each !== collection);
    if (!this.isWaiting) this.#begun = Promise.withResolvers();
  }
}
