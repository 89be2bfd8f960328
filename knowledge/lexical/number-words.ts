/** Reads numbers in words and spelled codes: `24` finds `twenty four`, and `E17` finds `E siebzehn`. */

import { fold } from './folding.ts';
import { CARDINALS } from './cardinals.ts';
import { dimensionOf } from './dimension.ts';
import { primarySubtag } from './stemming.ts';
import { stopDimensions } from './stop-words.ts';
import { wordsOf } from './words.ts';

/**
 * Larger numbers are said in digits or in groups. Those of one digit count only as parts of codes: one is an article in many languages, and
 * the others are in every text (nDCG@10 on CISI with them 0.404, without 0.408).
 */
const LARGEST = 999;

interface NumberWords {
  /** Numbers by their words with spaces in between, and by the same words written as one. */
  readonly values: ReadonlyMap<string, number>;
  /** The number of words in the longest number, by the word that it begins with. */
  readonly longest: ReadonlyMap<string, number>;
}

const known = new Map<string, NumberWords>();

function numberWordsOf(language: string): NumberWords | undefined {
  const cardinal = Object.hasOwn(CARDINALS, language) ? CARDINALS[language] : undefined;
  if (cardinal === undefined) return undefined;
  let words = known.get(language);
  if (words === undefined) {
    const values = new Map<string, number>();
    const longest = new Map<string, number>();
    for (let value = 0; value <= LARGEST; value += 1) {
      const parts = wordsOf(fold(cardinal(value)));
      for (const form of [parts, [parts.join('')]]) {
        const [first = ''] = form;
        longest.set(first, Math.max(longest.get(first) ?? 0, form.length));
        if (!values.has(form.join(' '))) values.set(form.join(' '), value);
      }
    }
    words = { values, longest };
    known.set(language, words);
  }
  return words;
}

/** Most characters of a code. A column of single digits is no code. */
const LONGEST_CODE = 12;
const DIGITS = /^\d{1,3}$/;
const LETTER = /^\p{L}$/u;

/**
 * @param words folded words in the order of the text
 * @returns digits of the numbers in words, and codes whose letters and digits stand apart, each as one
 */
export function numbersIn(words: readonly string[], language?: string): readonly string[] {
  const spoken = numberWordsOf(primarySubtag(language) || 'en');
  const terms: string[] = [];
  /** A letter, or the code so far, which the next number continues. */
  let code = '';
  for (let at = 0; at < words.length;) {
    const { digits, length, inWords } = numberAt(words, at, spoken);
    if (digits === undefined) {
      const word = words[at] ?? '';
      // "a two-bed room" has no a2.
      code = LETTER.test(word) && !stopDimensions(language).has(dimensionOf(word)) ? word : '';
      at += 1;
      continue;
    }
    if (inWords && digits.length > 1) terms.push(digits);
    const continues = code !== '' && (LETTER.test(code) || digits.length === 1) && code.length + digits.length <= LONGEST_CODE;
    code = continues ? `${code}${digits}` : digits.length === 1 ? digits : '';
    if (continues) terms.push(code);
    at += length;
  }
  return terms;
}

interface NumberFound {
  readonly digits: string | undefined;
  /** Number of words of the text. */
  readonly length: number;
  readonly inWords: boolean;
}

/** Finds the longest number that begins at a word. */
function numberAt(words: readonly string[], at: number, spoken: NumberWords | undefined): NumberFound {
  const word = words[at] ?? '';
  if (DIGITS.test(word)) return { digits: word, length: 1, inWords: false };
  for (let length = Math.min(spoken?.longest.get(word) ?? 0, words.length - at); length > 0; length -= 1) {
    const value = spoken?.values.get(words.slice(at, at + length).join(' '));
    if (value !== undefined) return { digits: String(value), length, inWords: true };
  }
  return { digits: undefined, length: 1, inWords: false };
}
