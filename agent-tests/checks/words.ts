/** Compares texts without case and punctuation, and numbers by their value. */

/** A number with its sign and decimals, or a word. A hyphen after a letter or a digit is no sign. */
const TOKEN = /(?:(?<![\p{L}\p{N}])[-\u2212])?\p{Nd}+(?:[.,]\p{Nd}+)*(?![\p{L}\p{M}\p{N}])|[\p{L}\p{M}\p{N}]+/gu;
/** A number with separators of thousands: `1,000`, `1.000` or `1.234.567,8`. */
const GROUPED = /^[-\u2212]?[1-9]\d{0,2}(?:(?:,\d{3})+(?:\.\d+)?|(?:\.\d{3})+(?:,\d+)?)$/;

/** Lowers the case, puts one space for everything between words, and writes numbers as {@link plainNumber} does. */
export function plainWords(text: string): string {
  const plain = text.normalize('NFKC').toLowerCase().replaceAll(/['’]/g, '');
  return Array.from(plain.matchAll(TOKEN), ([token]) => (/^.?\p{Nd}/u.test(token) ? plainNumber(token) : token)).join(' ');
}

/** `12.50` and `12,5` are `12.5`, which is neither `12` nor `50`; `1,000` is `1000`. A date such as `1.5.2026` is several numbers. */
function plainNumber(token: string): string {
  const separator = GROUPED.test(token) ? /[.,]/.exec(token)?.[0] : undefined;
  const parts = (separator === undefined ? token : token.replaceAll(separator, '')).replace('\u2212', '-').split(/[.,]/);
  const [units = '', decimals = '', ...more] = parts;
  if (more.length > 0) return parts.join(' ');
  const kept = decimals.replace(/0+$/, '');
  return kept === '' ? units : `${units}.${kept}`;
}

/** Compares whole words: `art` is not in `start`. Scripts without spaces have no word boundaries, and neither have texts of signs alone. */
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
