/** Puts amounts into words: "$4,200.50", "19,99 €", "USD 5", "10–20 €", "$5 million", "3 Mio. €". */
import { decimalSignOf, editsOf, NUMBER, readNumber, type WrittenNumber } from './numbers.ts';
import type { Language, Rule } from './rule.ts';
import { scalesOf } from './scales.ts';

interface Sign {
  readonly currency: string;
  /** Beginning of its own word, in any language, where `Intl` says more than the sign does: "US dollars". */
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
/** Dollars of other countries than the United States, by the letters before the sign. */
const DOLLARS: Readonly<Record<string, Sign>> = {
  US$: { currency: 'USD' },
  A$: { currency: 'AUD' },
  C$: { currency: 'CAD' },
  R$: { currency: 'BRL', word: /^rea/i },
};
/** Pesos by the region of the language, where "$" stands for them. */
const PESOS: Readonly<Record<string, string>> = { MX: 'MXN', AR: 'ARS', CO: 'COP', CL: 'CLP', UY: 'UYU', DO: 'DOP' };
const KRONOR: Readonly<Record<string, string>> = { sv: 'SEK', da: 'DKK', nb: 'NOK', no: 'NOK' };
const CODES = 'USD|EUR|GBP|CHF|JPY|CNY|INR|CAD|AUD|NZD|SEK|DKK|NOK|PLN|CZK|HUF|BRL|MXN';

const SIGN = String.raw`(?:US|[ACR])\$|[$€£¥₹]`;
const SPACE = String.raw`[ \u00A0\u202F]?`;
/** Matches a scale. One that isn't known is left to the voice, and so is "$5$", which is LaTeX. */
const SCALE = String.raw`(?:[kKmM]|mil|mln|mld|bn|tys|[mM]io|[mM]rd)(?!\p{L})|[mM]ill?i|[mM]ilj|[mM]ilh|[bB]il[lh]|[tT]ril|thousand|[tT]ausend|hundred`;
const END = String.raw`(?![\d$€£]|[.,]\d|\p{L}|${SPACE}(?:${SCALE}))`;
const BEGIN = String.raw`(?<![\p{L}\d$€£¥₹]|\d[.,])`;
const RANGE = String.raw`(?:${SPACE}[-–]${SPACE}(${NUMBER}))?`;

export function money({ tag, vocabulary }: Language): Rule {
  const decimal = decimalSignOf(tag);
  const words = `${SIGN}|zł|kr|${CODES}`;
  const scales = vocabulary && scalesOf(tag);
  const scaled = (stop: string): string =>
    scales === undefined ? '()' : String.raw`(?:${SPACE}(${scales.pattern})(?!\p{L}|-\p{L})${stop})?`;
  const before = new RegExp(
    String.raw`${BEGIN}(${SIGN}|(?:${CODES})(?=[ \u00A0\d]))${SPACE}(${NUMBER})${RANGE}${scaled(String.raw`(?:\.(?= \p{Ll}))?`)}${END}`,
    'gu',
  );
  const after = new RegExp(String.raw`${BEGIN}(${NUMBER})${RANGE}${scaled(String.raw`\.?`)}${SPACE}(${words})${END}`, 'gu');
  const said = (sign: string, [first, last, scale]: readonly [string, string | undefined, string | undefined]): string | undefined => {
    const found = signOf(sign, tag);
    if (found === undefined) return undefined;
    const amount = readNumber(last ?? first, decimal);
    const end = !scale ? amountIn(tag, found, amount, vocabulary?.hundredths) : scaledIn(found, amount, scale);
    if (last === undefined || end === undefined) return end;
    const begin = numberIn(tag, readNumber(first, decimal));
    return vocabulary && `${begin} ${vocabulary.to} ${end}`;
  };
  /** Says an amount with a scale: "5 million dollars". */
  const scaledIn = (sign: Sign, amount: WrittenNumber, scale: string): string | undefined => {
    const found = scales?.find(amount.value, scale);
    if (found === undefined) return undefined;
    const { name } = namedIn(tag, sign, MANY);
    const currency = found.exponent > 3 ? (vocabulary?.millionsOf?.(name) ?? name) : name;
    return `${numberIn(tag, amount)} ${found.name} ${currency}`;
  };
  return (text) => {
    const edits = [
      ...editsOf(text, before, ([, sign = '', first = '', last, scale]) => said(sign, [first, last, scale])),
      ...editsOf(text, after, ([, first = '', last, scale, sign = '']) => said(sign, [first, last, scale])),
    ];
    // One amount counts where two overlap: "$5 €".
    return edits.toSorted((a, b) => a.from - b.from).filter(({ from }, index, all) => index === 0 || from >= all[index - 1]!.to);
  };
}

function signOf(written: string, tag: string): Sign | undefined {
  const [language = '', region = ''] = tag.split('-');
  const pesos = written === '$' ? PESOS[region.toUpperCase()] : undefined;
  const kronor = written === 'kr' ? KRONOR[language.toLowerCase()] : undefined;
  if (pesos !== undefined) return { currency: pesos, word: /^peso/i };
  if (kronor !== undefined) return { currency: kronor, word: /^kron/i };
  return DOLLARS[written] ?? SIGNS[written] ?? (CODES.split('|').includes(written) ? { currency: written } : undefined);
}

function amountIn(
  tag: string,
  sign: Sign,
  { value, decimals }: WrittenNumber,
  hundredthsIn: ((count: number, currency: string) => string | undefined) | undefined,
): string | undefined {
  const whole = Math.floor(value);
  const cents = Math.round((value - whole) * 100);
  const hundredths = decimals <= 2 && cents > 0 && cents < 100 ? hundredthsIn?.(cents, sign.currency) : undefined;
  const shown = hundredths === undefined ? { value, decimals: cents === 0 && decimals <= 2 ? 0 : decimals } : { value: whole, decimals: 0 };
  const { parts, name } = namedIn(tag, sign, shown);
  return (
    parts
      .map(({ type, value: part }) => (type === 'currency' ? name : part))
      .join('')
      .replaceAll(/\s/g, ' ') + (hundredths === undefined ? '' : ` ${hundredths}`)
  );
}

/** An amount of which a currency has the form that it has behind "million". */
const MANY: WrittenNumber = { value: 5, decimals: 0 };

/** Formats an amount, and in it the name of its currency, as short as the sign. */
function namedIn(tag: string, { currency, word }: Sign, { value, decimals }: WrittenNumber) {
  const parts = formatOf(tag, { style: 'currency', currency, currencyDisplay: 'name' }, decimals).formatToParts(value);
  const name = parts.find(({ type }) => type === 'currency')?.value ?? currency;
  return { parts, name: (word && name.split(/[ \u00A0-]/).find((each) => word.test(each))) ?? name };
}

const numberIn = (tag: string, { value, decimals }: WrittenNumber): string => formatOf(tag, {}, decimals).format(value);

const formatOf = (tag: string, options: Intl.NumberFormatOptions, decimals: number): Intl.NumberFormat =>
  new Intl.NumberFormat(tag, { ...options, useGrouping: false, minimumFractionDigits: decimals, maximumFractionDigits: decimals });
