/** Which organisations alone may have which phone numbers: `+4930*=acme` is all that begin so, `+12125550100=acme` one. */
export class NumberAssignments {
  readonly #organizations = new Map<string, string[]>();

  /** @throws RangeError naming the entry that can't be read */
  constructor(entries: readonly string[]) {
    for (const entry of entries) {
      const [, numbers, organization] = /^(\+[1-9][0-9]{0,14}\*?)\s*=\s*([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)$/.exec(entry) ?? [];
      if (numbers === undefined || organization === undefined)
        throw new RangeError(`${JSON.stringify(entry)} assigns no number: write it as +12125550100=organisation or +4930*=organisation`);
      this.#organizations.set(numbers, [...(this.#organizations.get(numbers) ?? []), organization]);
    }
  }

  /** The longest entry that fits decides. @returns undefined where any organisation may have the number */
  assigneesOf(number: string): readonly string[] | undefined {
    for (let length = number.length; length > 1; length -= 1) {
      const beginning = number.slice(0, length);
      const found = (length === number.length ? this.#organizations.get(number) : undefined) ?? this.#organizations.get(`${beginning}*`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
}
