/** Says phone numbers, and other long numbers of things (accounts, cards), digit by digit, in groups. */
import { editsOf } from './numbers.ts';
import type { Language, Rule } from './rule.ts';

const GAP = String.raw`(?:[ \u00A0]?[-/.()][ \u00A0]?|[ \u00A0])`;
const BEGIN = String.raw`(?<![\p{L}\d.,/:$€£-])`;
const END = String.raw`(?![\p{L}\d/%€]|[-.,:]\d| ?(?:€|USD|EUR|GBP|kr|zł))`;
const NUMBERS = [
  // +43 1 234 5678
  String.raw`(?:\+|00(?=[1-9]))\d{1,4}(?:${GAP}?\(?\d{1,12}\)?){1,6}`,
  // (555) 123-4567
  String.raw`\(\d{2,5}\)[ \u00A0]?\d{2,8}(?:${GAP}\d{2,6}){0,3}`,
  // 1-800-555-0123, 555-123-4567, 555-1234
  String.raw`(?:1[-. ])?\d{3}[-. ]\d{3}[-. ]\d{4}`,
  String.raw`\d{3}-\d{4}`,
  // 0664 123 45 67
  String.raw`0\d{1,5}(?:${GAP}\d{2,8}){1,6}`,
  // 4111 1111 1111 1111
  String.raw`\d{4}(?:[ -]\d{4}){3}`,
  // 0664123456, 123456789012
  String.raw`0\d{5,14}|\d{10,20}`,
];
const PHONE = new RegExp(`${BEGIN}(?:${NUMBERS.join('|')})${END}`, 'gu');
/** Matches an IBAN: AT61 1904 3002 3457 3201 */
const IBAN = /(?<![\p{L}\d])[A-Z]{2}\d\d(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![\p{L}\d])/gu;

/** Fewest digits: numbers of phones have as many, with the country's. */
const MIN_DIGITS = 7;
const GROUP = 3;

export function phoneNumbers({ vocabulary }: Language): Rule {
  const groups = (written: string): string =>
    written
      .split(/[^A-Z\d]+/)
      .filter((group) => group !== '')
      .flatMap(chunks)
      .map((group) => group.replaceAll(/(?<=.)(?=.)/g, ' '))
      .join(', ');
  return (text) =>
    [
      ...editsOf(text, IBAN, ([written]) => groups(written)),
      ...editsOf(text, PHONE, ([written]) => {
        const digits = written.replaceAll(/\D/g, '');
        // "1000000000" is a number of things, and not the number of one.
        if (digits.length < MIN_DIGITS || (/^\d+000$/.test(written) && !written.startsWith('0'))) return undefined;
        const plus = written.startsWith('+') ? (vocabulary === undefined ? '+' : `${vocabulary.signs['+']} `) : '';
        return plus + groups(written);
      }),
    ].toSorted((a, b) => a.from - b.from);
}

/** Splits a group that was written without gaps: no part of one digit is left. */
function chunks(group: string): readonly string[] {
  if (group.length <= 4) return [group];
  const parts: string[] = [];
  for (let at = 0; at < group.length; at += GROUP) parts.push(group.slice(at, at + GROUP));
  if (parts.at(-1)!.length > 1) return parts;
  return [...parts.slice(0, -2), parts.at(-2)! + parts.at(-1)!];
}
