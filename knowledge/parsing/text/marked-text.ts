/**
 * Marks that stand around raised and struck text while a parser collects a line. Only the text behind it can tell raised text apart from a
 * number in front of it. They are noncharacters, which no text has, and cleaning removes those that are left.
 */
import type { Sink } from '../block.ts';
import { STRUCK_LEFT_OUT } from '../left-out.ts';

export const RAISED = { open: '\ufff9', close: '\ufffb' } as const;
export const STRUCK = { open: '\ufffe', close: '\uffff' } as const;

const RAISED_TEXT = /\ufff9([^\ufff9\ufffb]*)\ufffb/gu;
const STRUCK_TEXT = /\ufffe([^\ufffe\uffff]*)\uffff/gu;

/** Characters around raised text that decide its meaning. */
const CONTEXT = 16;

/** Returns the line without struck-through text, of which the sink is warned, and with `m²`, `320¹` and `12.99 €` for raised text. */
export function resolveMarks(line: string, sink: Pick<Sink, 'warn'>): string {
  const kept = line.replace(STRUCK_TEXT, (_, struck: string) => {
    if (/[\p{L}\p{N}]/u.test(struck)) sink.warn(STRUCK_LEFT_OUT);
    return '';
  });
  return kept.replace(RAISED_TEXT, (mark, raised: string, at: number) => {
    const end = at + mark.length;
    return raisedText(kept.slice(Math.max(0, at - CONTEXT), at), raised, kept.slice(end, end + CONTEXT));
  });
}

const CURRENCY = String.raw`(?:[$€£¥₹৳₽₺₴₩]|(?:EUR|USD|GBP|CHF|DKK|SEK|NOK|PLN|CZK|HUF|TRY|kr|zł|Kč|lei|Ft)(?!\p{L}))`;
const PRICE_BEFORE = new RegExp(String.raw`${CURRENCY}\s*\d[\d.,'’ ]*$`, 'iu');
const CURRENCY_AFTER = new RegExp(String.raw`^\s*${CURRENCY}`, 'iu');
const SUPERSCRIPTS: Readonly<Record<string, string>> = {
  0: '⁰',
  1: '¹',
  2: '²',
  3: '³',
  4: '⁴',
  5: '⁵',
  6: '⁶',
  7: '⁷',
  8: '⁸',
  9: '⁹',
  '+': '⁺',
  '-': '⁻',
  '−': '⁻',
  '(': '⁽',
  ')': '⁾',
};

/** Two raised digits of a price are its hundredths, other digits are exponents and footnotes; letters stay (`1st`). */
function raisedText(before: string, raised: string, after: string): string {
  const text = raised.trim();
  if (!/\d$/u.test(before) && !/^[\d+−-]/u.test(text)) return raised;
  if (/^\d\d$/u.test(text) && /\d$/u.test(before) && (CURRENCY_AFTER.test(after) || PRICE_BEFORE.test(before))) return `.${text}`;
  if (/\d[.,]$/u.test(before) && /^\d\d$/u.test(text)) return text;
  return text.replaceAll(/[\d+−()-]/gu, (character) => SUPERSCRIPTS[character] ?? character);
}
