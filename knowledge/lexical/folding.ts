/** Folds the spellings of one word into one, before anything else reads a text. */
import { cutLongRuns } from './long-runs.ts';

/** ASCII digit of each decimal digit of Unicode. Built for the first such digit: going through all planes takes a few milliseconds. */
let digits: ReadonlyMap<string, string> | undefined;

function asciiDigits(): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  // Unicode keeps the ten digits of a set in a row, zero first, and sets that touch (the mathematical ones) are whole.
  let before = -2;
  let value = 0;
  for (let code = 0x660; code <= 0x1fbff; code += 1) {
    const character = String.fromCodePoint(code);
    if (!/\p{Nd}/u.test(character)) continue;
    value = code === before + 1 ? (value + 1) % 10 : 0;
    before = code;
    found.set(character, String(value));
  }
  return found;
}

// eslint-disable-next-line no-control-regex
const PLAIN = /^[\x00-\x7f]*$/;

/** Folds like {@link foldCharacters}, and puts spaces into runs that are too long for word breakers. */
export function fold(text: string): string {
  return cutLongRuns(foldCharacters(text));
}

/**
 * Applies NFKC and lower case, writes every script's decimal digits as ASCII digits, removes joiners, soft hyphens and all else that is
 * invisible, and makes the zero-width space a space. Ignores the language, so that a question and a passage agree whatever language each
 * claims to be in.
 */
function foldCharacters(text: string): string {
  if (PLAIN.test(text)) return text.toLowerCase();
  const compatible = text
    // Older texts write the Bangla letter khanda ta as ta, hasanta and a non-joiner.
    .replaceAll('\u09a4\u09cd\u200c', '\u09ce')
    .replaceAll('\u200b', ' ')
    .replaceAll(/\p{Default_Ignorable_Code_Point}|\u0640/gu, '')
    .replaceAll('\u2019', "'")
    // Raised digits behind a number are a footnote or a power: NFKC would make 3201 of 320¹.
    .replaceAll(/(?<=\p{Nd})(?=[\u00b2\u00b3\u00b9\u2070\u2074-\u2079])/gu, ' ')
    // Turkish İ would become an i with a dot above: two characters that no keyboard writes.
    .replaceAll('\u0130', 'i')
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll('\u00df', 'ss')
    .replaceAll('\u03c2', '\u03c3');
  return compatible.replaceAll(/(?![0-9])\p{Nd}/gu, (digit) => {
    digits ??= asciiDigits();
    return digits.get(digit) ?? digit;
  });
}
