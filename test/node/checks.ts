/** Runs checks one after another: each is printed as it ends, and the numbers at last. */
export class Checks {
  readonly #only: string | undefined;
  #passed = 0;
  #failed = 0;

  /** @param only runs only the checks that have this in their name, and those on which others build */
  constructor(only?: string) {
    this.#only = only;
  }

  async check(what: string, body: () => Promise<string | void>, { needed = false }: { readonly needed?: boolean } = {}): Promise<void> {
    if (this.#only !== undefined && !needed && !what.includes(this.#only)) return;
    const begun = performance.now();
    try {
      const note = await body();
      this.#passed += 1;
      process.stdout.write(
        `ok      ${what} (${((performance.now() - begun) / 1000).toFixed(1)} s)${note === undefined ? '' : `: ${note}`}\n`,
      );
    } catch (error) {
      this.#failed += 1;
      process.stdout.write(`FAILED  ${what}: ${error instanceof Error ? error.message : String(error)}\n`);
    }
  }

  /** @returns the number of failed checks */
  finish(): number {
    process.stdout.write(`${this.#passed} passed, ${this.#failed} failed\n`);
    return this.#failed;
  }
}
