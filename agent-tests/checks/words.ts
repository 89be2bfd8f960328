/** How what was said is compared: without case and punctuation. */

/** Lower case, with one space for everything between words. */
export function plainWords(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/['’]/g, '')
    .replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, ' ')
    .trim();
}

/** Whole words: `art` is not in `start`. Scripts without spaces have no boundaries of words, and neither have texts of signs alone. */
export function saysText(said: string, wanted: string): boolean {
  const plain = plainWords(wanted);
  if (plain === '') return said.includes(wanted.trim());
  if (UNSPACED.test(plain)) return plainWords(said).includes(plain);
  return ` ${plainWords(said)} `.includes(` ${plain} `);
}

const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

export function countWords(text: string): number {
  return [...new Intl.Segmenter(undefined, { granularity: 'word' }).segment(text)].filter(({ isWordLike }) => isWordLike).length;
}
