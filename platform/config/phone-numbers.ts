/** Parses the variables about phone numbers: which ones the deployment has, whose they are, and how long they stay reserved. */
import { DAY_MS } from '../time.ts';

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

/** Restricts phone numbers to organisations: `+4930*=acme` gives it all that begin so, `+12125550100=acme` one. */
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

  /** Finds the organisations of the longest entry that fits. @returns undefined where any organisation may have the number */
  assigneesOf(number: string): readonly string[] | undefined {
    for (let length = number.length; length > 1; length -= 1) {
      const beginning = number.slice(0, length);
      const found = (length === number.length ? this.#organizations.get(number) : undefined) ?? this.#organizations.get(`${beginning}*`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

/** Returns how long phone numbers stay reserved for their organisation, in milliseconds. */
export function numberReservationMs({ PARLEY_NUMBER_RESERVATION_DAYS: days }: { readonly PARLEY_NUMBER_RESERVATION_DAYS: number }): number {
  return days * DAY_MS;
}
