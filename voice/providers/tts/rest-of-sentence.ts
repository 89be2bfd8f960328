/** Finds the rest of a sentence whose sound breaks off: by its length, for the sound doesn't say which words it holds. */

import { wholeWords } from '../fallback/whole-words.ts';

/** Characters per second of people who talk at ease; used until a voice has said a sentence. */
export const USUAL_CHARACTERS_PER_SECOND = 15;

/** Measures how fast a voice speaks. */
export class SpeechRate {
  #characters = 0;
  #seconds = 0;

  get charactersPerSecond(): number {
    return this.#seconds === 0 ? USUAL_CHARACTERS_PER_SECOND : this.#characters / this.#seconds;
  }

  said(text: string, seconds: number): void {
    this.#characters += text.length;
    this.#seconds += seconds;
  }
}

/** Returns the rest from the word on in which the sound ends: a word that was cut off is said again as a whole. */
export function restOf(text: string, seconds: number, charactersPerSecond: number): string {
  const said = Math.round(seconds * charactersPerSecond);
  const [whole, open] = wholeWords(text.slice(0, said));
  // A word that ends at this place was said.
  const ended = wholeWords(text.slice(0, said + 1))[1] === '';
  const rest = text.slice(whole.length + (ended ? open.length : 0)).trim();
  return /[\p{L}\p{N}]/u.test(rest) ? rest : '';
}
