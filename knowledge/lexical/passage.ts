/** Computes the terms by which searches find a passage. */
import { halvesOf, longWordsOf, partTerm } from './compounds.ts';
import { fold } from './folding.ts';
import { numbersIn } from './number-words.ts';
import { termsOf } from './terms.ts';
import { wordsOf } from './words.ts';

export interface PassageTerms {
  /** Terms of its words, each as often as it occurs: they decide how long the passage is. */
  readonly words: readonly string[];
  /** Parts of compounds, and numbers in words as digits: these don't make the passage longer. */
  readonly more: readonly string[];
  /** Terms of both kinds that are in the passage's own questions. */
  readonly inQuestions: ReadonlySet<string>;
}

/**
 * A heading, or the first sentence of a line, that ends with a question mark. A lower-case beginning is the rest of a wrapped line, and
 * `They ask, "Is it open?"` tells of a question. Its length is bounded, so that a line of many headings is not read from each of them to
 * its end.
 */
const QUESTIONS = /(?:(?<![^\n])|(?<= > ))(?!\p{Ll})[^.!?؟？\n]{0,300}(?:[.!](?=\S)[^.!?؟？\n]{0,100}){0,5}[?؟？](?!["”“»])/gu;

/** @param language BCP 47 tag of the knowledge base */
export function passageTerms(text: string, language?: string): PassageTerms {
  const questions = text.match(QUESTIONS)?.join('\n') ?? '';
  return { ...textTerms(text, language), inQuestions: new Set(allTerms(textTerms(questions, language))) };
}

/** Computes the terms of any text, be it a passage or a part of one. @param language BCP 47 tag of the knowledge base */
export function textTerms(text: string, language?: string): Pick<PassageTerms, 'words' | 'more'> {
  const words = wordsOf(fold(text));
  return { words: termsOf(text, language), more: [...numbersIn(words, language), ...wordParts(words, language)] };
}

export function allTerms({ words, more }: Pick<PassageTerms, 'words' | 'more'>): readonly string[] {
  return [...words, ...more];
}

function wordParts(words: readonly string[], language: string | undefined): readonly string[] {
  return longWordsOf(words, language).flatMap((word) => [...new Set(halvesOf(word, language ?? '').flat())].map(partTerm));
}
