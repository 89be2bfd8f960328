/** Thousands, millions and more, as people write them with an amount: "million", "Mio", "bn", "k". `Intl` has the words of each language. */

/** The spoken word of a scale, and its power of ten. */
export interface Scale {
  readonly name: string;
  readonly exponent: number;
}

export interface Scales {
  /** Pattern of its words, for a regular expression. */
  readonly pattern: string;
  /** Finds the scale of a word; a word stays as it is. @returns undefined where the amount is no usual one of this scale */
  find(count: number, written: string): Scale | undefined;
}

const SIGNS: Readonly<Record<string, readonly string[]>> = {
  3: ['k', 'K', 'tsd', 'Tsd', 'tys'],
  6: ['m', 'M', 'mn', 'mio', 'Mio', 'mln', 'Mln'],
  9: ['B', 'bn', 'Bn', 'mrd', 'Mrd', 'mld', 'Mld'],
};
/** Counts of each form that a language may have. */
const COUNTS = [1, 1.5, 2, 5] as const;

export function scalesOf(tag: string): Scales {
  const format = new Intl.NumberFormat(tag, { notation: 'compact', compactDisplay: 'long' });
  const nameOf = (count: number, exponent: number): string => {
    const compact = format.formatToParts(count * 10 ** exponent).find(({ type }) => type === 'compact');
    return (compact?.value ?? '').replaceAll(/\s/g, ' ');
  };
  const words = new Map(
    [3, 6, 9, 12].flatMap((exponent) =>
      COUNTS.map((count) => nameOf(count, exponent)).flatMap((name) => capitalizations(name).map((word) => [word, exponent] as const)),
    ),
  );
  const signs = new Map(Object.entries(SIGNS).flatMap(([exponent, all]) => all.map((sign) => [sign, Number(exponent)] as const)));
  return {
    pattern: [...words.keys(), ...signs.keys()].toSorted((a, b) => b.length - a.length).join('|'),
    find(count, written) {
      const known = words.get(written);
      if (known !== undefined) return { name: written, exponent: known };
      const exponent = signs.get(written);
      return exponent === undefined || count < 1 || count >= 1_000 ? undefined : { name: nameOf(count, exponent), exponent };
    },
  };
}

const capitalizations = (word: string): readonly string[] => [word.toLowerCase(), word.slice(0, 1).toUpperCase() + word.slice(1)];
