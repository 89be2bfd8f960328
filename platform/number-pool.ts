/** The phone numbers that a deployment gives out itself: `+15550100` is one, `+155501*` are all that begin so. */
export class NumberPool {
  readonly #single: ReadonlySet<string>;
  readonly #beginnings: readonly string[];

  /** @param text entries separated by commas; with none the pool has every number */
  constructor(text: string) {
    const entries = text
      .split(',')
      .map((entry) => entry.trim())
      .filter((entry) => entry !== '');
    this.#single = new Set(entries.filter((entry) => !entry.endsWith('*')));
    this.#beginnings = entries.filter((entry) => entry.endsWith('*')).map((entry) => entry.slice(0, -1));
  }

  has(number: string): boolean {
    if (this.#single.size === 0 && this.#beginnings.length === 0) return true;
    return this.#single.has(number) || this.#beginnings.some((beginning) => number.startsWith(beginning));
  }
}
