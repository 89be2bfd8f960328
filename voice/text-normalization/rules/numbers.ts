/** Reads numbers as people write them: "4,200.50", "4.200,50", "1 200". */
import type { Edit } from '../mapped-text.ts';

/** Matches up to fifteen digits, in groups of three or in one, with decimals. Spaces in between are those that don't break. */
export const NUMBER = String.raw`\d{1,3}(?:[,.'’\u00A0\u202F]\d{3}){1,4}(?:[.,]\d{1,2})?(?!\d)|\d{1,12}(?:[.,]\d{1,6})?(?!\d)`;

export interface WrittenNumber {
  readonly value: number;
  /** Number of decimals that were written. */
  readonly decimals: number;
}

/** Reads a number. @param written as `NUMBER` matches it. @param decimalSign of the language: what "4,200" is depends on it */
export function readNumber(written: string, decimalSign: string): WrittenNumber {
  const last = Math.max(written.lastIndexOf(','), written.lastIndexOf('.'));
  const [sign, rest] = [written[last] ?? '', written.length - last - 1];
  const isRepeated = written.indexOf(sign) !== last;
  const isDecimal =
    last >= 0 && !isRepeated && (rest !== 3 || (sign === decimalSign && !/['’\u00A0\u202F,.]/.test(written.slice(0, last))));
  const whole = (isDecimal ? written.slice(0, last) : written).replaceAll(/\D/g, '');
  const decimals = isDecimal ? written.slice(last + 1) : '';
  return { value: Number(`${whole}.${decimals || 0}`), decimals: decimals.length };
}

/** Returns the decimal sign of a language, "." or ",". */
export const decimalSignOf = (tag: string): string =>
  new Intl.NumberFormat(tag).formatToParts(1.5).find(({ type }) => type === 'decimal')?.value ?? '.';

/** Returns an edit for each match that `spoken` has words for. @param pattern global, its matches are never empty */
export function editsOf(text: string, pattern: RegExp, spoken: (match: RegExpExecArray) => string | undefined): readonly Edit[] {
  return [...text.matchAll(pattern)].flatMap((match) => {
    const said = spoken(match);
    return said === undefined ? [] : [{ from: match.index, to: match.index + match[0].length, spoken: said }];
  });
}
