/** Turns Tesseract's words on a page into blocks, by the layout of PDFs with text. */
import type { Block } from '../parsing/block.ts';
import { collectWords } from '../parsing/formats/pdf/hyphenation.ts';
import type { Glyph } from '../parsing/formats/pdf/glyph.ts';
import { pageLines } from '../parsing/formats/pdf/page-lines.ts';
import { pageParts } from '../parsing/formats/pdf/paragraphs.ts';
import { readingOrder } from '../parsing/formats/pdf/reading-order.ts';

/** Least confidence, of 100: below is noise of pictures and stains. */
const LEAST_CONFIDENCE = 20;
/** The font's height as a multiple of the ink's, which Tesseract's boxes have. */
const SIZE_OF_INK = 1.25;
/** Scripts without spaces, which Tesseract cuts into words nevertheless. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const WORD = '5';

interface Word {
  readonly line: string;
  readonly text: string;
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/**
 * @param tsv Tesseract's output, in pixels @see
 * https://tesseract-ocr.github.io/tessdoc/Command-Line-Usage.html#tsv-output-currently-available-in-305-dev-in-master-branch-on-github
 */
export function tesseractBlocks(tsv: string): readonly Block[] {
  const lines = pageLines(glyphsOf(parseWords(tsv)));
  const words = collectWords(lines.map(({ text }) => text));
  return pageParts(readingOrder(lines), 1, words).map((part) =>
    part.kind === 'table'
      ? { kind: 'table', header: part.header, rows: part.rows, firstRow: 1, headingPath: [] }
      : { kind: part.isListItem ? 'listItem' : 'paragraph', text: part.text, headingPath: [] },
  );
}

function parseWords(tsv: string): readonly Word[] {
  return tsv.split('\n').flatMap((row) => {
    const [level, page, block, paragraph, line, , left, top, width, height, confidence, ...text] = row.split('\t');
    const word = text.join('\t').trim();
    if (level !== WORD || word === '' || Number(confidence) < LEAST_CONFIDENCE) return [];
    const numbers = [left, top, width, height].map(Number);
    const [x = 0, y = 0, w = 0, h = 0] = numbers;
    return numbers.every(Number.isFinite)
      ? [{ line: [page, block, paragraph, line].join('.'), text: word, left: x, top: y, width: w, height: h }]
      : [];
  });
}

/** Gives words of one line one height and one baseline, whatever their letters are. */
function glyphsOf(words: readonly Word[]): readonly Glyph[] {
  return [...Map.groupBy(words, ({ line }) => line).values()].flatMap((line) => {
    const size = SIZE_OF_INK * middle(line.map(({ height }) => height));
    const y = middle(line.map(({ top, height }) => top + height));
    const glyph = { y, size, isBold: false };
    return line.flatMap(({ text, left, width }, at) => {
      const before = line[at - 1];
      const word = { ...glyph, text, left, right: left + width };
      if (before === undefined || (UNSPACED.test(before.text) && UNSPACED.test(text))) return [word];
      return [{ ...glyph, text: ' ', left: before.left + before.width, right: left }, word];
    });
  });
}

function middle(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}
