/** What Tesseract sees on a page, as blocks: its words are laid out as those of a PDF with text are. */
import type { Block } from '../parsing/block.ts';
import { collectWords } from '../parsing/formats/pdf/hyphenation.ts';
import type { Glyph } from '../parsing/formats/pdf/page-glyphs.ts';
import { pageLines } from '../parsing/formats/pdf/page-lines.ts';
import { pageParts } from '../parsing/formats/pdf/paragraphs.ts';
import { readingOrder } from '../parsing/formats/pdf/reading-order.ts';

/** Of 100: less is noise of pictures and stains. */
const LEAST_CONFIDENCE = 20;
/** Boxes are those of the ink, of which a font's height has more. */
const SIZE_OF_INK = 1.25;
/** Written without spaces, of which Tesseract makes words nevertheless. */
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

/** @param tsv in pixels @see https://tesseract-ocr.github.io/tessdoc/Command-Line-Usage.html#tsv-output-currently-available-in-305-dev-in-master-branch-on-github */
export function tesseractBlocks(tsv: string): readonly Block[] {
  const lines = pageLines(glyphsOf(wordsOf(tsv)));
  const words = collectWords(lines.map(({ text }) => text));
  return pageParts(readingOrder(lines), 1, words).map((part) =>
    part.kind === 'table'
      ? { kind: 'table', header: part.header, rows: part.rows, firstRow: 1, headingPath: [] }
      : { kind: part.isListItem ? 'listItem' : 'paragraph', text: part.text, headingPath: [] },
  );
}

function wordsOf(tsv: string): readonly Word[] {
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

/** Words of one line have one height and one baseline, whatever their letters are. */
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
