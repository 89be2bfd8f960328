/** Puts dates in digits into words: "2026-12-03", and the order that the language has them in. Months in words are read well. */
import { editsOf } from './numbers.ts';
import type { Language, Rule } from './rule.ts';

const ISO =
  /(?<![\p{L}\d.,/:-])(\d{4})-(\d\d)-(\d\d)(?:T(\d\d:\d\d)(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?(?![\p{L}\d/-]|[.,:]\d)/gu;
const SHORT = /(?<![\p{L}\d.,/:-])(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d\d)(?![\p{L}\d/-]|[.,:]\d)/gu;

export function dates({ tag, vocabulary }: Language): Rule {
  const format = new Intl.DateTimeFormat(tag, { dateStyle: 'long', timeZone: 'UTC', calendar: 'gregory' });
  const { monthFirst, separator } = orderIn(tag);
  const said = (year: number, month: number, day: number): string | undefined => {
    const date = new Date(Date.UTC(year, month - 1, day));
    return date.getUTCMonth() === month - 1 && date.getUTCDate() === day && year >= 1000 ? format.format(date) : undefined;
  };
  return (text) => {
    const iso = editsOf(text, ISO, ([, year, month, day, time]) => {
      const date = said(Number(year), Number(month), Number(day));
      const [hour, minute] = (time ?? '').split(':').map(Number);
      return date === undefined || time === undefined ? date : `${date}, ${vocabulary?.time?.(hour!, minute) ?? time}`;
    });
    const short = editsOf(text, SHORT, ([, first, mark, second, year = '']) => {
      // The language's own mark shows that two digits are a year.
      if (year.length === 2 && (mark !== separator || mark === '-')) return undefined;
      const fullYear = year.length === 2 ? 2000 + Number(year) : Number(year);
      const [month, day] = monthFirst ? [Number(first), Number(second)] : [Number(second), Number(first)];
      return fullYear < 1900 || fullYear > 2100 ? undefined : (said(fullYear, month, day) ?? said(fullYear, day, month));
    });
    return [...iso, ...short].toSorted((a, b) => a.from - b.from);
  };
}

function orderIn(tag: string): { readonly monthFirst: boolean; readonly separator: string } {
  const parts = new Intl.DateTimeFormat(tag, { dateStyle: 'short', timeZone: 'UTC' }).formatToParts(0);
  const placeOf = (wanted: string): number => parts.findIndex(({ type }) => type === wanted);
  // Where the year comes first, people write only ISO dates so; otherwise the day comes first.
  const monthFirst = placeOf('month') < placeOf('day') && placeOf('day') < placeOf('year');
  return { monthFirst, separator: parts.find(({ type }) => type === 'literal')?.value.trim() ?? '/' };
}
