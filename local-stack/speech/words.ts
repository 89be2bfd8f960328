/** Finds words and numbers in what was said. */

/** Returns the words in lower case, without marks. */
export const spokenWords = (text: string): readonly string[] => text.toLowerCase().match(/[\p{L}\p{N}']+/gu) ?? [];

const DIGITS = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'];
const digitOf = (word: string): string | undefined => {
  const at = DIGITS.indexOf(word === 'oh' ? 'zero' : word);
  return at < 0 ? undefined : String(at);
};

/** Finds numbers in figures, or read digit by digit: "four seven one one" is 4711. */
export function numbersIn(text: string): readonly string[] {
  const found = text.match(/\d+/g) ?? [];
  if (found.length > 0) return found;
  const runs: string[] = [];
  let run = '';
  for (const word of [...spokenWords(text), '']) {
    const digit = digitOf(word);
    if (digit !== undefined) run += digit;
    else if (run !== '') {
      runs.push(run);
      run = '';
    }
  }
  // "one" by itself is rather a word than a number.
  return runs.filter((each) => each.length > 1 || each !== '1');
}

const FILLERS = new Set(
  'the and for you your with that this can what when where how does have will would like about please from are use it is of to in on a an my me i or if by be at as do not was there any all one get tell call caller user customer returns return whether name number'.split(
    ' ',
  ),
);
/** Returns the words that carry meaning, as stems: "orders", "ordered" and "order" are the same here. */
export const tellingWords = (text: string): readonly string[] =>
  spokenWords(text)
    .filter((word) => word.length > 2 && !FILLERS.has(word))
    .map((word) => word.slice(0, 5));

/** Counts how many of the first words the text has, too: "open" and "opening" are alike. @param words from {@link tellingWords} */
export function sharedWith(words: readonly string[], text: string): number {
  const others = tellingWords(text);
  return words.filter((word) => others.some((other) => word.startsWith(other) || other.startsWith(word))).length;
}
