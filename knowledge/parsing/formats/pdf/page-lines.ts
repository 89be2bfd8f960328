import type { TextItem, TextMarkedContent } from 'pdfjs-dist/types/src/display/api.js';
import type { PDFPageProxy } from 'pdfjs-dist/legacy/build/pdf.mjs';

/** A piece of text on one baseline, in points from the page's upper left corner. */
export interface Line {
  readonly text: string;
  readonly left: number;
  readonly right: number;
  /** Of the baseline. */
  readonly y: number;
  /** Height of the font. */
  readonly size: number;
  /** All of it. */
  readonly isBold: boolean;
}

type Matrix = readonly number[];

/** Text that is read in one direction. */
interface Run {
  text: string;
  left: number;
  right: number;
  readonly isRightToLeft: boolean;
}

interface Piece {
  /** In the order in which they are drawn. */
  readonly runs: Run[];
  left: number;
  right: number;
  readonly y: number;
  size: number;
  isBold: boolean;
}

/** Parts of the font's height. */
const SAME_BASELINE = 0.45;
const WORD_GAP = 0.15;
const CELL_GAP = 1.2;

/**
 * Joins what a PDF draws (words, syllables, single letters) to pieces of lines. Pieces that stand far apart on one baseline stay apart: they
 * may belong to two columns. Text that is turned against the rest of the page (watermarks, labels of axes) comes last.
 *
 * @param viewport takes the page's own coordinates to the upper left corner, with the page's rotation
 * @param isBold by the name that pdf.js gives a font
 */
export function pageLines(
  items: readonly (TextItem | TextMarkedContent)[],
  viewport: Matrix,
  isBold: (font: string) => boolean,
): { readonly lines: Line[]; readonly turned: Line[] } {
  const placed = items.flatMap((item) => ('str' in item ? [{ item, matrix: multiply(viewport, item.transform as Matrix) }] : []));
  const common = commonest(placed.filter(({ item }) => item.str.trim() !== '').map(({ matrix }) => quarter(matrix)));
  const pieces: Piece[] = [];
  const turned: Piece[] = [];
  let open: Piece | undefined;
  let space = false;
  for (const { item, matrix } of placed) {
    if (item.str.trim() === '') {
      space ||= item.str !== '';
      continue;
    }
    const upright = quarter(matrix) === common;
    const { run, ...place } = placeOf(item, matrix, common);
    const next: Piece = { ...place, left: run.left, right: run.right, runs: [run], isBold: isBold(item.fontName) };
    if (open !== undefined && upright && continues(open, next, run)) {
      addRun(open, run, next.size, space);
      open.left = Math.min(open.left, next.left);
      open.right = Math.max(open.right, next.right);
      open.size = Math.max(open.size, next.size);
      open.isBold &&= next.isBold;
    } else {
      (upright ? pieces : turned).push(next);
      open = upright ? next : undefined;
    }
    space = item.hasEOL;
  }
  return { lines: pieces.map(lineOf), turned: turned.map(lineOf) };
}

/** Programs draw a line that is read from right to left, or a part of it, from either end. */
function continues(open: Piece, next: Piece, run: Run): boolean {
  const size = Math.max(open.size, next.size);
  const isLeftToRight = !run.isRightToLeft && open.runs.every(({ isRightToLeft }) => !isRightToLeft);
  const gap = isLeftToRight ? next.left - open.right : Math.max(next.left - open.right, open.left - next.right);
  return Math.abs(open.y - next.y) < SAME_BASELINE * size && isClose(gap, size);
}

function isClose(gap: number, size: number): boolean {
  return gap < CELL_GAP * size && gap > -size;
}

function addRun(open: Piece, next: Run, size: number, space: boolean): void {
  const last = open.runs.at(-1);
  if (last === undefined || !goesOn(last, next, Math.max(open.size, size))) {
    open.runs.push(next);
    return;
  }
  const gap = next.isRightToLeft ? last.left - next.right : next.left - last.right;
  last.text += (space || gap > WORD_GAP * size ? ' ' : '') + next.text;
  last.left = Math.min(last.left, next.left);
  last.right = Math.max(last.right, next.right);
}

function goesOn(last: Run, next: Run, size: number): boolean {
  if (last.isRightToLeft !== next.isRightToLeft) return false;
  if (!next.isRightToLeft) return isClose(next.left - last.right, size);
  // Two letters may be closer than the tolerance though the left one is drawn first.
  return isClose(last.left - next.right, size) && next.left <= last.left;
}

function lineOf({ runs, ...place }: Piece): Line {
  let text = '';
  let before: Run | undefined;
  for (const run of inReadingOrder(runs)) {
    const gap = before === undefined ? 0 : Math.max(run.left - before.right, before.left - run.right);
    text += (gap > WORD_GAP * place.size ? ' ' : '') + run.text;
    before = run;
  }
  return { ...place, text };
}

const OTHER_SCRIPTS = /[^\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}]+/gu;

/** Parts of one line in the order in which a person reads them: from the right if most of its letters are of a script that is. */
export function inReadingOrder<Part extends { readonly text: string; readonly left: number; readonly right: number }>(
  parts: readonly Part[],
): readonly Part[] {
  if (parts.length < 2) return parts;
  const letters = parts.map(({ text }) => text.replace(/\P{L}+/gu, '')).join('');
  const isRightToLeft = 2 * letters.replace(OTHER_SCRIPTS, '').length > letters.length;
  return [...parts].sort((one, other) => (isRightToLeft ? other.right - one.right : one.left - other.left));
}

/** Turned so that the page's common direction runs to the right. */
function placeOf(item: TextItem, matrix: Matrix, turn: number): { readonly run: Run; readonly y: number; readonly size: number } {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = matrix;
  const size = Math.hypot(c, d) || Math.hypot(a, b) || item.height;
  const [x, y] = turn === 1 ? [f, -e] : turn === 2 ? [-e, -f] : turn === 3 ? [-f, e] : [e, f];
  return { run: { text: item.str, left: x, right: x + item.width, isRightToLeft: item.dir === 'rtl' }, y, size };
}

/** How many quarter turns text is rotated by; between two, -1. */
function quarter([a = 0, b = 0]: Matrix): number {
  const turns = Math.atan2(b, a) / (Math.PI / 2);
  const nearest = Math.round(turns);
  return Math.abs(turns - nearest) > 0.1 ? -1 : (nearest + 4) % 4;
}

function commonest(values: readonly number[]): number {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort((one, other) => other[1] - one[1])[0]?.[0] ?? 0;
}

function multiply([a = 1, b = 0, c = 0, d = 1, e = 0, f = 0]: Matrix, [g = 1, h = 0, i = 0, j = 1, k = 0, l = 0]: Matrix): Matrix {
  return [a * g + c * h, b * g + d * h, a * i + c * j, b * i + d * j, a * k + c * l + e, b * k + d * l + f];
}

/** Of any number of values: as arguments of `Math.min`, a hundred thousand would be too many. */
export function smallest(values: readonly number[]): number {
  return values.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY);
}

export function largest(values: readonly number[]): number {
  return values.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);
}

/** The font height that most characters have: the body's. 0 when there are none. */
export function usualSize(texts: readonly { readonly size: number; readonly text: string }[]): number {
  const characters = new Map<number, number>();
  for (const { size, text } of texts) characters.set(roundedSize(size), (characters.get(roundedSize(size)) ?? 0) + text.length);
  return [...characters].sort((one, other) => other[1] - one[1])[0]?.[0] ?? 0;
}

/** To half a point: programs scale fonts a little. */
export function roundedSize(size: number): number {
  return Math.round(size * 2) / 2;
}

/** Pages that are read twice to learn of their fonts. Documents name theirs on the first ones. */
const MOST_PAGES = 12;

/** Which of a document's fonts are bold. pdf.js knows only those whose page was laid out to be drawn. */
export class BoldFonts {
  readonly #known = new Map<string, boolean>();
  #pages = 0;

  isBold(font: string): boolean {
    return this.#known.get(font) === true;
  }

  /** Looks at the fonts of a page, if any is new. Never fails: a page that can't be drawn may well be read. */
  async learn(page: PDFPageProxy, items: readonly (TextItem | TextMarkedContent)[]): Promise<void> {
    const fonts = new Set(items.flatMap((item) => ('str' in item && item.str.trim() !== '' ? [item.fontName] : [])));
    const unknown = [...fonts].filter((font) => !this.#known.has(font));
    if (unknown.length === 0 || this.#pages === MOST_PAGES) return;
    this.#pages += 1;
    for (const font of unknown) this.#known.set(font, false);
    try {
      await page.getOperatorList();
      for (const font of unknown) if (page.commonObjs.has(font)) this.#known.set(font, isBoldFont(page.commonObjs.get(font)));
    } catch {
      // As if none was bold.
    }
  }
}

/** By its name, behind the tag of a part of a font: `ABCDEF+Calibri-Bold`; TeX's bold fonts are called CMBX10. */
function isBoldFont(font: unknown): boolean {
  const name = typeof font === 'object' && font !== null && 'name' in font ? font.name : undefined;
  return typeof name === 'string' && /bold|black|heavy|demi|(?:^|\+)(?:cm|sf|ec)bx/iu.test(name);
}
