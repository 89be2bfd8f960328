/**
 * Splits streamed text into the pieces that a voice is asked for, each as soon as it is known to be complete. The pieces joined are the text: white
 * space stays at their ends. Markup is no concern here, so that no sign without its counterpart holds anything back.
 */
import { hasWords } from '../../calls/model-stream/index.ts';
import { meaningOfStop } from './abbreviations.ts';

/** Shortest sentence that stands alone, except the first, which the listener waits for: many short requests sound choppy. See `widthOf`. */
const MIN_WIDTH = 20;
/** Width from which on the first piece may end at a comma. */
const FIRST_WIDTH = 40;
/** Width from which on a piece in a script without full stops ends at a space. */
const UNPUNCTUATED_WIDTH = 80;
/** Smallest width of the first piece when it is in a hurry. */
const HURRIED_WIDTH = 12;
/** Longest piece, in UTF-16 units. */
const MAX_LENGTH = 400;
/** Longest word before a full stop that is looked at. */
const LONGEST_ABBREVIATION = 12;

const SPACE = /\s/u;
const STOP = /[.!?…]/u;
/** These end a sentence without white space behind them. */
const WIDE_STOP = /[。！？｡．؟۔।॥።]/u;
const CLOSER = /["'”’“»«)\]*_~`」』）】》〉]/u;
const WIDE_COMMA = /[，、；：،؛﹐]/u;
const COMMA = /[,;:–—]/u;
const UNSPACED = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;
const UNPUNCTUATED = /[\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;
const DIGIT = /\p{Nd}/u;
const WORD = /^[\p{L}\p{M}'’-]{2,}$/u;

export class SentenceSplitter {
  readonly #language: string;
  #text = '';
  /** Place before which no sentence ends. */
  #scanned = 0;
  /** True while the first piece of the answer is still to come. */
  #first = true;
  #hurried = false;

  /** Creates a splitter. @param language BCP 47 tag */
  constructor(language: string) {
    this.#language = language.toLowerCase().split('-')[0] ?? '';
  }

  /** True if the listener still waits for the first piece, and a word of it is there. */
  get isAwaited(): boolean {
    return this.#first && hasWords(this.#text);
  }

  /** Takes text. Returns the pieces that are complete by now. */
  push(text: string): readonly string[] {
    this.#text += text;
    return this.#take(false);
  }

  /** Lets the first piece end between two words: the listener has waited long enough for it. */
  hurry(): readonly string[] {
    this.#hurried = true;
    return this.#take(false);
  }

  /** Returns the rest. The next text begins another answer. */
  end(): readonly string[] {
    const pieces = this.#take(true);
    const last = this.#text === '' ? [] : [this.#cut(this.#text.length)];
    this.#first = true;
    this.#hurried = false;
    return [...pieces, ...last];
  }

  #take(ended: boolean): readonly string[] {
    const pieces: string[] = [];
    for (;;) {
      const at = this.#nextEnd(ended) ?? this.#endOfFirst() ?? this.#endOfLongest();
      if (at === undefined) return pieces;
      pieces.push(this.#cut(at));
    }
  }

  #cut(at: number): string {
    const piece = this.#text.slice(0, at);
    this.#text = this.#text.slice(at);
    this.#scanned = 0;
    if (hasWords(piece)) this.#first = false;
    return piece;
  }

  /** Returns the end of the next sentence that is worth a request. */
  #nextEnd(ended: boolean): number | undefined {
    while (this.#scanned < Math.min(this.#text.length, MAX_LENGTH)) {
      const end = this.#endAt(this.#scanned, ended);
      if (end === 'unknown') return undefined;
      this.#scanned = end === undefined ? this.#scanned + 1 : Math.abs(end);
      if (end !== undefined && end > 0 && end <= MAX_LENGTH && this.#isWorth(end)) return end;
    }
    return undefined;
  }

  #isWorth(end: number): boolean {
    const piece = this.#text.slice(0, end);
    return hasWords(piece) && (this.#first || widthOf(piece.trim()) >= MIN_WIDTH);
  }

  /**
   * Looks at a character. @returns the end of the sentence that this character ends, or, negative, the place up to which nothing ends;
   * undefined where it ends nothing
   */
  #endAt(at: number, ended: boolean): number | 'unknown' | undefined {
    const text = this.#text;
    const character = text[at]!;
    if (character === '\n') return this.#endOfLine(at, ended);
    if (character === ' ' && UNPUNCTUATED.test(text[at - 1] ?? '') && widthOf(text.slice(0, at)) >= UNPUNCTUATED_WIDTH) return at + 1;
    const isWide = WIDE_STOP.test(character);
    if (!isWide && !STOP.test(character)) return undefined;
    let end = at + 1;
    while (end < text.length && (STOP.test(text[end]!) || WIDE_STOP.test(text[end]!) || CLOSER.test(text[end]!))) end += 1;
    if (end === text.length) return ended ? end : 'unknown';
    if (!isWide && !SPACE.test(text[end]!)) return UNSPACED.test(text[end]!) && character !== '.' ? end : -end;
    if (SPACE.test(text[end]!)) end += 1;
    return character !== '.' || text[at + 1] === '.' ? end : this.#endOfWord(at, end, ended);
  }

  #endOfWord(at: number, end: number, ended: boolean): number | 'unknown' {
    const word = /\S*$/.exec(this.#text.slice(Math.max(0, at - LONGEST_ABBREVIATION), at))![0];
    // The number stands in front of an item of a list: "1."
    if (/^\d{1,3}$/.test(word) && /(?:^|\n)[ \t]{0,8}$/.test(this.#text.slice(Math.max(0, at - LONGEST_ABBREVIATION), at - word.length)))
      return -(end - 1);
    const meaning = meaningOfStop(word, /\S/u.exec(this.#text.slice(end))?.[0], this.#language);
    if (meaning === 'depends-on-next') return ended ? end : 'unknown';
    // A line break behind it is an end of its own.
    return meaning === 'end' ? end : -(end - 1);
  }

  /** Ends at a line break. The head of a table goes with the line below it, which shows that it is one. */
  #endOfLine(at: number, ended: boolean): number | 'unknown' {
    const line = this.#text.slice(this.#text.lastIndexOf('\n', at - 1) + 1, at).trim();
    if (!line.startsWith('|') || isTableRule(line)) return at + 1;
    const below = this.#text.slice(at + 1);
    if (!ended && /^[ \t]*(?:\|[ \t:]*)?$/.test(below)) return 'unknown';
    return /^[ \t]*\|[ \t:]*-/.test(below) ? -(at + 1) : at + 1;
  }

  #endOfFirst(): number | undefined {
    if (!this.#first) return undefined;
    const text = this.#text;
    let [bracket, hurried]: [number, number | undefined] = [-1, undefined];
    for (let at = 0; at < Math.min(text.length - 1, MAX_LENGTH); at += 1) {
      const [character, next] = [text[at]!, text[at + 1]!];
      if (character === '[') bracket = at;
      if (character === ']') bracket = -1;
      // A link that is cut can't be read by its text.
      if (bracket >= 0) continue;
      if (isComma(text, at) && widthOf(text.slice(0, at)) >= FIRST_WIDTH) {
        return WIDE_COMMA.test(character) || character === ' ' ? at + 1 : at + 2;
      }
      if (this.#hurried && SPACE.test(character) && !SPACE.test(next) && isBetweenWords(text, at)) hurried = at + 1;
    }
    return hurried;
  }

  #endOfLongest(): number | undefined {
    const text = this.#text;
    if (text.length <= MAX_LENGTH) return undefined;
    for (let at = MAX_LENGTH - 2; at > MAX_LENGTH / 2; at -= 1) if (isComma(text, at)) return at + 1;
    const space = text.slice(0, MAX_LENGTH).search(/\s\S*$/);
    if (space > 0) return space + 1;
    return /[\uD800-\uDBFF]/.test(text[MAX_LENGTH - 1]!) ? MAX_LENGTH - 1 : MAX_LENGTH;
  }
}

/** Measures text. Scripts without spaces say more with fewer characters. */
function widthOf(text: string): number {
  let width = text.length;
  for (const character of text) if (UNSPACED.test(character)) width += 2;
  return width;
}

/** Matches "|---|:---:|" below the head of a table. */
export const isTableRule = (line: string): boolean => line.includes('|') && line.includes('-') && /^[|\s:-]+$/.test(line);

/** Finds a comma or its like, once the next character is known; "December 3, 2026" has none. */
function isComma(text: string, at: number): boolean {
  const [character, next, following] = [text[at]!, text[at + 1], text[at + 2]];
  if (WIDE_COMMA.test(character)) return true;
  if (character === ' ') return UNPUNCTUATED.test(text[at - 1] ?? '');
  if (!COMMA.test(character) || next === undefined || !SPACE.test(next) || following === undefined) return false;
  if (character === ';' && /&#?[a-z\d]{2,8}$/i.test(text.slice(Math.max(0, at - 10), at))) return false;
  if (!DIGIT.test(following)) return true;
  return character !== ':' && !DIGIT.test(text.slice(Math.max(0, at - 2), at));
}

/** Finds a place where neither word belongs to a number, a date or an abbreviation as far as can be seen. */
function isBetweenWords(text: string, at: number): boolean {
  const [before, next] = [text.slice(0, at), text[at + 1]!];
  if (!/\p{L}/u.test(next) || widthOf(before) < HURRIED_WIDTH) return false;
  const words = before.trim().split(/\s+/);
  return words.length > 1 && WORD.test(words.at(-1)!) && !DIGIT.test(words.at(-2)!);
}
