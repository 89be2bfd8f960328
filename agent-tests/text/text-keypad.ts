/** The keypad of a call in text: keys come whole, without pauses between them. */
import type { ToolKeypad } from '../../voice/tools/builtin/keypad.ts';

/** Ends an entry. */
const END = '#';

export class TextKeypad implements ToolKeypad {
  #collection: { readonly count: number; readonly done: (keys: string) => void } | undefined;
  #begun = Promise.withResolvers<void>();

  /** Resolves when a tool waits for keys. */
  get waiting(): Promise<void> {
    return this.#begun.promise;
  }

  get isWaiting(): boolean {
    return this.#collection !== undefined;
  }

  async collect({ count, signal }: Parameters<ToolKeypad['collect']>[0]): Promise<string> {
    const { promise, resolve } = Promise.withResolvers<string>();
    this.#collection = { count, done: resolve };
    this.#begun.resolve();
    const giveUp = (): void => this.giveUp();
    signal.addEventListener('abort', giveUp, { once: true });
    if (signal.aborted) this.giveUp();
    return promise.finally(() => signal.removeEventListener('abort', giveUp));
  }

  /** Tones have no listener in text. */
  async press(): Promise<void> {}

  /** @returns the entries that no tool collects */
  enter(keys: string): readonly string[] {
    const entries: string[] = [];
    let entry = '';
    const complete = (): void => {
      if (this.#collection !== undefined) this.#complete(entry);
      else if (entry !== '') entries.push(entry);
      entry = '';
    };
    for (const key of keys) {
      if (key !== END) entry += key;
      if (key === END || (this.#collection !== undefined && entry.length >= this.#collection.count)) complete();
    }
    if (entry !== '') complete();
    return entries;
  }

  /** The user presses no key. */
  giveUp(): void {
    this.#complete('');
  }

  #complete(keys: string): void {
    this.#collection?.done(keys);
    this.#collection = undefined;
    this.#begun = Promise.withResolvers();
  }
}
