/** What a chunk is found by besides its own text: the document and the sections that it stands in. */

/** A title is cut behind this many UTF-16 units, all of them together behind the other: they must not drown the text. */
const longestPart = 120;
const longestContext = 300;

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** `title > heading > heading`, a line break, and the text. */
export function indexedText(context: readonly string[], text: string): string {
  const parts = context.map((part) => cut(part.replaceAll(/\s+/g, ' ').trim(), longestPart)).filter((part) => part !== '');
  // The innermost sections say most of the chunk.
  while (parts.length > 1 && parts.join(' > ').length > longestContext) parts.splice(1, 1);
  return parts.length === 0 ? text : `${parts.join(' > ')}\n${text}`;
}

function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  return text.slice(0, graphemes.segment(text).containing(length)?.index ?? length);
}
