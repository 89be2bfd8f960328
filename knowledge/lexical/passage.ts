/** What a passage is found by. */
import { halvesOf, longWordsOf, partTerm } from './compounds.ts';
import { fold } from './folding.ts';
import { numbersIn } from './number-words.ts';
import { termsOf } from './terms.ts';
import { wordsOf } from './words.ts';

export interface PassageTerms {
  /** Of its words, each as often as it is there: how long the passage is. */
  readonly words: readonly string[];
  /** Parts of compounds, and numbers in words as digits: these make it no longer. */
  readonly more: readonly string[];
  /** Those of both kinds that the questions in it have. */
  readonly inQuestions: ReadonlySet<string>;
}

/**
 * A heading, or the first sentence of a line, that ends with a question mark. What begins in lower case is the rest of a wrapped line, and
 * `They ask, "Is it open?"` tells of a question. It has a length, so that a line of many headings is not read from each of them to its end.
 */
const QUESTIONS = /(?:(?<![^\n])|(?<= > ))(?!\p{Ll})[^.!?؟？\n]{0,300}(?:[.!](?=\S)[^.!?؟？\n]{0,100}){0,5}[?؟？](?!["”“»])/gu;

/** @param language BCP 47 tag of the knowledge base */
export function passageTerms(text: string, language?: string): PassageTerms {
  const questions = text.match(QUESTIONS)?.join('\n') ?? '';
  return { ...textTerms(text, language), inQuestions: new Set(allTerms(textTerms(questions, language))) };
}

/** What any text is found by, be it a passage or a part of one. @param language BCP 47 tag of the knowledge base */
export function textTerms(text: string, language?: string): Pick<PassageTerms, 'words' | 'more'> {
  const words = wordsOf(fold(text));
  return { words: termsOf(text, language), more: [...numbersIn(words, language), ...partsOf(words, language)] };
}

/** Terms of any kind. */
export function allTerms({ words, more }: Pick<PassageTerms, 'words' | 'more'>): readonly string[] {
  return [...words, ...more];
}

function partsOf(words: readonly string[], language: string | undefined): readonly string[] {
  return longWordsOf(words, language).flatMap((word) => [...new Set(halvesOf(word, language ?? '').flat())].map(partTerm));
}
