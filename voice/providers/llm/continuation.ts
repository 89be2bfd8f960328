/** Joins the rest of an answer to its beginning, which another model gave, and drops the words that the rest repeats. */

import { wholeWords } from '../fallback/whole-words.ts';

const WORDS = /[\p{L}\p{N}]+/gu;

interface Word {
  readonly text: string;
  readonly end: number;
}

const locateWords = (text: string): readonly Word[] =>
  [...text.matchAll(WORDS)].map(({ 0: word, index }) => ({ text: word.toLowerCase(), end: index + word.length }));

export class Continuation {
  readonly #said: readonly Word[];
  /** Text after the last word. */
  readonly #tail: string;
  #held = '';
  #joined = false;

  constructor(said: string) {
    this.#said = locateWords(said);
    this.#tail = said.slice(this.#said.at(-1)?.end);
  }

  /** Takes more text. @returns the part that is new; nothing while it may still be a repetition */
  push(text: string): string {
    return this.#joined ? text : this.#join(text, false);
  }

  end(): string {
    return this.#joined ? '' : this.#join('', true);
  }

  #join(text: string, last: boolean): string {
    this.#held += text;
    const words = locateWords(last ? this.#held : wholeWords(this.#held)[0]);
    // The words may come from any of these places in the beginning; the longest run that ends where it was cut off is the repetition.
    let sources = this.#said.map((_, index) => index);
    let repeated = 0;
    for (const [count, word] of words.entries()) {
      sources = sources.filter((from) => this.#said[from + count]?.text === word.text);
      if (sources.length === 0) break;
      if (sources.some((from) => from + count + 1 === this.#said.length)) repeated = count + 1;
    }
    const mayGoOn = words.length === 0 || sources.some((from) => from + words.length < this.#said.length);
    if (mayGoOn && !last) return '';
    this.#joined = true;
    let rest = this.#held;
    if (repeated > 0) {
      const signs = this.#tail.trim();
      rest = rest.slice(words[repeated - 1]!.end);
      if (rest.startsWith(signs)) rest = rest.slice(signs.length);
    }
    if (/\s$/u.test(this.#tail)) return rest.trimStart();
    return rest === '' || /^[\s\p{P}]/u.test(rest) ? rest : ` ${rest}`;
  }
}
