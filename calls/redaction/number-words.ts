/** Number words as people dictate numbers: digit by digit, or in pairs ("forty-two forty-two"). */
import { CARDINALS } from '../../knowledge/lexical/cardinals.ts';

/** Largest number of one group: hundreds are an amount. */
const LARGEST = 99;

/** What people say beside the words that are written. */
const ALSO_SAID: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  en: { oh: '0', o: '0' },
  de: { zwo: '2', ein: '1' },
  pt: { meia: '6' },
};

/** Words that repeat the digit behind them. */
const REPEATS: ReadonlyMap<string, number> = new Map([
  ['double', 2],
  ['triple', 3],
  ['treble', 3],
  ['doppel', 2],
  ['doble', 2],
  ['doppia', 2],
]);

/** Words that people say between the digits of one number. */
const FILLERS: ReadonlySet<string> = new Set('and,then,uh,um,er,erm,und,dann,äh,ähm,y,luego,e,et,puis,euh,poi,en,dan,depois'.split(','));

export interface NumberWords {
  /** Digits by their words in lower case, with spaces in between. */
  readonly digits: ReadonlyMap<string, string>;
  /** Most words of one number. */
  readonly longest: number;
}

const known = new Map<string, NumberWords>();

/** Returns the words of a language and of English, in which many dictate. @param language BCP 47 tag */
export function numberWordsOf(language: string): NumberWords {
  const subtag = language.split('-')[0]?.toLowerCase() ?? '';
  const words = known.get(subtag) ?? collectWords(new Set(['en', subtag]));
  known.set(subtag, words);
  return words;
}

function collectWords(languages: ReadonlySet<string>): NumberWords {
  const digits = new Map<string, string>();
  for (const language of languages) {
    const cardinal = Object.hasOwn(CARDINALS, language) ? CARDINALS[language] : undefined;
    for (let value = 0; cardinal !== undefined && value <= LARGEST; value += 1) {
      const written = cardinal(value).toLowerCase();
      for (const form of new Set([written, written.replaceAll('ß', 'ss')])) digits.set(form.split(/[\s-]+/).join(' '), String(value));
    }
    for (const [word, digit] of Object.entries(ALSO_SAID[language] ?? {})) digits.set(word, digit);
  }
  return { digits, longest: Math.max(...[...digits.keys()].map((words) => words.split(' ').length)) };
}

/** Returns how often the word repeats the digit behind it; undefined for other words. @param word in lower case */
export const repeatWord = (word: string): number | undefined => REPEATS.get(word);

/** @param word in lower case */
export const isFiller = (word: string): boolean => FILLERS.has(word);
