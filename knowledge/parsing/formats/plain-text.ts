import { decodeText } from '../text/decode.ts';
import { LEGACY_FONT_WARNING, looksLikeLegacyBangla } from '../text/legacy-bangla.ts';
import { textParts } from './text-columns.ts';
import type { Parser } from '../block.ts';

/** Reads the text between empty lines as paragraphs, and aligned columns as tables. Plain text has no other structure. */
export const parsePlainText: Parser = (input, sink) => {
  const text = decodeText(input.content).replace(/\r\n?/gu, '\n');
  if (looksLikeLegacyBangla(text)) sink.warn(LEGACY_FONT_WARNING);
  for (const { paragraph, end } of paragraphs(text)) {
    for (const part of textParts(paragraph))
      if ('text' in part) sink.add({ kind: 'paragraph', text: part.text, headingPath: [] });
      else sink.add({ kind: 'table', ...part, firstRow: 1, headingPath: [] });
    if (end % 1_000_000 < paragraph.length || end === text.length) sink.progress(end, text.length);
  }
  return {};
};

function* paragraphs(text: string): Generator<{ paragraph: string; end: number }> {
  // A form feed ends a page, and with it a paragraph.
  const gap = /\n[^\S\n]*\n\s*|\f/gu;
  let from = 0;
  for (const match of text.matchAll(gap)) {
    yield { paragraph: text.slice(from, match.index), end: match.index };
    from = match.index + match[0].length;
  }
  yield { paragraph: text.slice(from), end: text.length };
}
