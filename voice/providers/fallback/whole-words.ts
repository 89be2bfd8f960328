/** Finds where a text may be cut without cutting a word. */

/** A word at the end that may go on, in scripts that separate words. */
const OPEN_WORD = /[\p{sc=Latin}\p{sc=Cyrillic}\p{sc=Greek}\p{sc=Arabic}\p{sc=Hebrew}\p{N}'’-]+$/u;

/** Splits a text. @returns the text without a word that may go on, and that word */
export function wholeWords(text: string): readonly [whole: string, open: string] {
  const [open = ''] = OPEN_WORD.exec(text) ?? [];
  return [text.slice(0, text.length - open.length), open];
}
