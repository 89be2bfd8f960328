/** Texts by key, the most recently used ones, up to a number of characters altogether. */
export class TextMemory {
  readonly #texts = new Map<string, string>();
  readonly #capacity: number;
  #size = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get(key: string): string | undefined {
    const text = this.#texts.get(key);
    if (text !== undefined) this.set(key, text);
    return text;
  }

  set(key: string, text: string): void {
    this.#delete(key);
    // A Map keeps the order of insertion: the first is the one that was used longest ago.
    this.#texts.set(key, text);
    this.#size += text.length;
    for (const oldest of this.#texts.keys()) {
      if (this.#size <= this.#capacity) return;
      this.#delete(oldest);
    }
  }

  /** Another text of this length would push nothing out. */
  hasRoomFor(length: number): boolean {
    return this.#size + length <= this.#capacity;
  }

  #delete(key: string): void {
    const text = this.#texts.get(key);
    if (text === undefined) return;
    this.#texts.delete(key);
    this.#size -= text.length;
  }
}
