/** Finds runs of digits in a text, as they are written or said. Pure. */
import { isFiller, numberWordsOf, repeatWord, type NumberWords } from './number-words.ts';

/** Digits that were written or said as one. */
export interface DigitGroup {
  readonly digits: string;
  readonly start: number;
  readonly end: number;
  readonly spoken: boolean;
}

/** Groups with nothing between them but signs, spaces and fillers. */
export interface DigitRun {
  readonly groups: readonly DigitGroup[];
  readonly digits: string;
  readonly start: number;
  readonly end: number;
}

interface Token {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly word: string | undefined;
}

const TOKEN = /\p{L}+|\p{Nd}+|[^\s\p{L}\p{Nd}]/gu;
/** Signs that may stand within a number. */
const SEPARATORS: ReadonlySet<string> = new Set(['-', '.', ',', '/', '(', ')', '–', '‑', '·']);

export function tokensIn(text: string): readonly Token[] {
  return [...text.matchAll(TOKEN)].map(({ 0: token, index }) => ({
    text: token,
    start: index,
    end: index + token.length,
    word: /^\p{L}/u.test(token) ? token.toLowerCase() : undefined,
  }));
}

/** Returns the digits of a text in ASCII. The ten digits of each script stand in order. */
function toAscii(text: string): string {
  return text.replaceAll(/\p{Nd}/gu, (sign) => {
    if (sign <= '9') return sign;
    const code = sign.codePointAt(0) ?? 0;
    let value = 0;
    while (value < 9 && /\p{Nd}/u.test(String.fromCodePoint(code - value - 1))) value += 1;
    return String(value);
  });
}

/** Returns the runs of a text, in order. One or two digits in words are no run: "one moment" is no number. */
export function digitRunsIn(text: string, language: string): readonly DigitRun[] {
  return groupsIn(text, language)
    .filter((groups) => groups.length > 2 || groups.some(({ spoken, digits }) => !spoken || digits.length > 1))
    .map(runOf);
}

/** Returns all digits of a text, also where they are few. */
export function digitGroupsIn(text: string, language: string): readonly DigitGroup[] {
  return groupsIn(text, language).flat();
}

function groupsIn(text: string, language: string): readonly (readonly DigitGroup[])[] {
  const runs: DigitGroup[][] = [];
  let groups: DigitGroup[] = [];
  const end = (): void => {
    if (groups.length > 0) runs.push(groups);
    groups = [];
  };
  const words = numberWordsOf(language);
  const tokens = tokensIn(text);
  for (let at = 0; at < tokens.length; at += 1) {
    const { group, used } = groupAt(tokens, at, words);
    if (group !== undefined) {
      groups.push(group);
      at += used - 1;
    } else if (!goesOn(tokens[at]!)) end();
  }
  end();
  return runs;
}

const goesOn = ({ text, word }: Token): boolean => (word === undefined ? SEPARATORS.has(text) : isFiller(word));

/** Reads digits at a token. @returns the group, and how many tokens it has */
function groupAt(tokens: readonly Token[], at: number, words: NumberWords): { readonly group?: DigitGroup; readonly used: number } {
  const token = tokens[at]!;
  if (token.word === undefined) {
    if (!/^\p{Nd}/u.test(token.text)) return { used: 1 };
    return { group: { digits: toAscii(token.text), start: token.start, end: token.end, spoken: false }, used: 1 };
  }
  const times = repeatWord(token.word);
  if (times !== undefined && tokens[at + 1] !== undefined) {
    const { group, used } = groupAt(tokens, at + 1, words);
    if (group?.digits.length !== 1) return { used: 1 };
    return { group: { ...group, digits: group.digits.repeat(times), start: token.start }, used: used + 1 };
  }
  return numberAt(tokens, at, words) ?? { used: 1 };
}

/** Reads the longest number in words that begins at a token; hyphens between its words don't count. */
function numberAt(tokens: readonly Token[], at: number, { digits, longest }: NumberWords) {
  let phrase = '';
  let found: { readonly group: DigitGroup; readonly used: number } | undefined;
  for (let next = at, count = 0; count < longest && next < tokens.length; next += 1) {
    const { word, text, end } = tokens[next]!;
    if (word === undefined) {
      if (text === '-') continue;
      break;
    }
    phrase = phrase === '' ? word : `${phrase} ${word}`;
    count += 1;
    const value = digits.get(phrase);
    if (value !== undefined) found = { group: { digits: value, start: tokens[at]!.start, end, spoken: true }, used: next - at + 1 };
  }
  return found;
}

function runOf(groups: readonly DigitGroup[]): DigitRun {
  return { groups, digits: groups.map(({ digits }) => digits).join(''), start: groups[0]!.start, end: groups.at(-1)!.end };
}
