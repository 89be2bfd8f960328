/** Amounts: "$4,200.50", "19,99 €", "USD 5", "10–20 €". */
import { decimalSignOf, editsOf, NUMBER, readNumber, type WrittenNumber } from './numbers.ts';
import type { Language, Rule } from './index.ts';

interface Sign {
  readonly currency: string;
  /** How its own word begins, in any language, where `Intl` says more than the sign does: "US dollars". */
  readonly word?: RegExp;
}

const DOLLAR = /^d[oó]l/i;
const SIGNS: Readonly<Record<string, Sign>> = {
  $: { currency: 'USD', word: DOLLAR },
  '€': { currency: 'EUR' },
  '£': { currency: 'GBP', word: /^(?:pound|pfund|livre|libra|sterlin|pond|funt|pund)/i },
  '¥': { currency: 'JPY', word: /^[yij]en/i },
  '₹': { currency: 'INR', word: /^rup/i },
  zł: { currency: 'PLN', word: /^(?:z[łl]ot|zloty)/i },
};
const KRONOR: Readonly<Record<string, string>> = { sv: 'SEK', da: 'DKK', nb: 'NOK', no: 'NOK' };
const CODES = 'USD|EUR|GBP|CHF|JPY|CNY|INR|CAD|AUD|NZD|SEK|DKK|NOK|PLN|CZK|HUF|BRL|MXN';

const SIGN = String.raw`US\$|[$€£¥₹]`;
const SPACE = String.raw`[ \u00A0\u202F]?`;
/** "5 million" is left to the voice, and so are "$5$", which is LaTeX, and "5€/kg". */
const END = String.raw`(?![\d$€£]|[.,]\d|\p{L}|${SPACE}(?:k|m|mi?l|mio|mln|mld|mrd|bn|bil|tys|thousand|tausend|hundred|trill)\p{L}*)`;
const BEGIN = String.raw`(?<![\p{L}\d$€£¥₹]|\d[.,])`;
const RANGE = String.raw`(?:${SPACE}[-–]${SPACE}(${NUMBER}))?`;

export function money({ tag, vocabulary }: Language): Rule {
  const decimal = decimalSignOf(tag);
  const language = tag.toLowerCase().split('-')[0]!;
  const words = `${SIGN}|zł|kr|${CODES}`;
  const before = new RegExp(String.raw`${BEGIN}(${SIGN}|(?:${CODES})(?=[ \u00A0\d]))${SPACE}(${NUMBER})${RANGE}${END}`, 'giu');
  const after = new RegExp(String.raw`${BEGIN}(${NUMBER})${RANGE}${SPACE}(${words})${END}`, 'giu');
  const said = (sign: string, first: string, last?: string): string | undefined => {
    const found = signOf(sign, language);
    if (found === undefined) return undefined;
    const end = amountIn(tag, found, readNumber(last ?? first, decimal), vocabulary?.hundredths);
    if (last === undefined || end === undefined) return end;
    const begin = numberIn(tag, readNumber(first, decimal));
    return vocabulary && `${begin} ${vocabulary.to} ${end}`;
  };
  return (text) => {
    const edits = [
      ...editsOf(text, before, ([, sign = '', first = '', last]) => said(sign, first, last)),
      ...editsOf(text, after, ([, first = '', last, sign = '']) => said(sign, first, last)),
    ];
    // "$5 €" is one amount at most.
    return edits.toSorted((a, b) => a.from - b.from).filter(({ from }, index, all) => index === 0 || from >= all[index - 1]!.to);
  };
}

function signOf(written: string, language: string): Sign | undefined {
  if (/^US\$$/i.test(written)) return { currency: 'USD' };
  if (written.toLowerCase() === 'kr') return KRONOR[language] === undefined ? undefined : { currency: KRONOR[language], word: /^kron/i };
  return SIGNS[written.toLowerCase()] ?? (new RegExp(`^(?:${CODES})$`).test(written) ? { currency: written } : undefined);
}

function amountIn(
  tag: string,
  { currency, word }: Sign,
  { value, decimals }: WrittenNumber,
  hundredthsIn: ((count: number, currency: string) => string | undefined) | undefined,
): string | undefined {
  const whole = Math.floor(value);
  const cents = Math.round((value - whole) * 100);
  const hundredths = decimals <= 2 && cents > 0 && cents < 100 ? hundredthsIn?.(cents, currency) : undefined;
  const shown = hundredths === undefined ? { value, decimals: cents === 0 && decimals <= 2 ? 0 : decimals } : { value: whole, decimals: 0 };
  const parts = formatOf(tag, { style: 'currency', currency, currencyDisplay: 'name' }, shown.decimals).formatToParts(shown.value);
  const name = parts.find(({ type }) => type === 'currency')?.value ?? currency;
  const own = word && name.split(/[ \u00A0-]/).find((each) => word.test(each));
  return (
    parts
      .map(({ type, value: part }) => (type === 'currency' ? (own ?? name) : part))
      .join('')
      .replaceAll(/\s/g, ' ') + (hundredths === undefined ? '' : ` ${hundredths}`)
  );
}

const numberIn = (tag: string, { value, decimals }: WrittenNumber): string => formatOf(tag, {}, decimals).format(value);

const formatOf = (tag: string, options: Intl.NumberFormatOptions, decimals: number): Intl.NumberFormat =>
  new Intl.NumberFormat(tag, { ...options, useGrouping: false, minimumFractionDigits: decimals, maximumFractionDigits: decimals });
