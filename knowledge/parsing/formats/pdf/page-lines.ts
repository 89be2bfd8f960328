import { bidirectionalText, isMostlyRightToLeft, isRightToLeft } from './bidi.ts';
import type { Glyph } from './glyph.ts';

/** Text on one baseline, in points from the page's upper left corner. */
export interface Line extends LinePiece {
  /** The pieces that stand apart on it, from the left. */
  readonly cells: readonly LinePiece[];
}

/** Text on one baseline without large gaps, in the form of a glyph; bold where all of it is. */
export type LinePiece = Glyph;

interface Piece {
  /** Glyphs in the order in which they are drawn, with the spaces between them. */
  readonly glyphs: Placed[];
  left: number;
  right: number;
  readonly y: number;
  size: number;
  isBold: boolean;
  /** True if part of it is read from the right. */
  fromRight: boolean;
}

type Placed = Pick<Glyph, 'text' | 'left' | 'right'>;

/** Distances as shares of the font's height. */
const SAME_BASELINE = 0.45;
const WORD_GAP = 0.15;
const CELL_GAP = 1.2;
/** Largest gap inside a word that is read from the right: such letters touch, or nearly. */
const WORD_GAP_FROM_RIGHT = 0.12;
/** Where spaces are drawn, a gap without one is the edge of a cell; but not behind the sign or number of a list, nor beside dots. */
const CELL_GAP_WITHOUT_SPACE = 0.4;
const CELL_END = /[\p{L}\p{M}\p{N}%€$£]$/u;
const SPACES_PER_GAP = 3;

/**
 * Joins what a PDF draws to pieces of lines. Pieces that stand far apart on one baseline stay apart: they may belong to two columns.
 */
export function pageLines(glyphs: readonly Glyph[]): readonly LinePiece[] {
  const pieces: Piece[] = [];
  const hasSpaces = drawsSpaces(glyphs);
  let open: Piece | undefined;
  for (const glyph of glyphs) {
    const { text } = glyph;
    const fromRight = isRightToLeft(text);
    const goesOn = open !== undefined && continues(open, glyph, fromRight) && !(hasSpaces && isCellEdge(open, glyph, fromRight));
    if (open !== undefined && text === ' ') open.glyphs.push(glyph);
    else if (open !== undefined && goesOn && text === '') widen(open, glyph.right);
    else if (open !== undefined && goesOn) {
      open.glyphs.push(isRaised(open, glyph) ? superscript(glyph) : glyph);
      extend(open, glyph, fromRight);
    } else if (text.trim() !== '') {
      const { left, right, y, size, isBold } = glyph;
      pieces.push((open = { glyphs: [glyph], left, right, y, size, isBold, fromRight }));
    }
  }
  return joinRightToLeft(pieces).map(makeLine);
}

/** Tells whether the program that wrote the page draws a space between words, rather than leave a gap. */
function drawsSpaces(glyphs: readonly Glyph[]): boolean {
  let spaces = 0;
  let gaps = 0;
  let last: Glyph | undefined;
  for (const glyph of glyphs) {
    if (glyph.text === ' ') spaces += 1;
    else if (last !== undefined && last.text !== ' ' && isWordGap(glyph.left - last.right, glyph.size) && last.y === glyph.y) gaps += 1;
    last = glyph;
  }
  return spaces > SPACES_PER_GAP * gaps;
}

function isCellEdge({ glyphs, right, size, fromRight }: Piece, next: Glyph, nextFromRight: boolean): boolean {
  if (next.left - right < CELL_GAP_WITHOUT_SPACE * Math.max(size, next.size) || fromRight || nextFromRight) return false;
  return next.text !== '.' && CELL_END.test(glyphs.at(-1)?.text ?? '');
}

function isWordGap(gap: number, size: number): boolean {
  return gap > WORD_GAP * size && gap < CELL_GAP * size;
}

/** A raised glyph stands higher than `RAISED`, and is smaller than `SMALLER`, as shares of the font's height. */
const RAISED = 0.15;
const SMALLER = 0.85;
const SUPERSCRIPTS = '⁰¹²³⁴⁵⁶⁷⁸⁹';

function isRaised(open: Piece, next: Glyph): boolean {
  return open.y - next.y > RAISED * open.size && next.size < SMALLER * open.size;
}

/** Writes `320¹`, `10³` or `m²`: the mark of a footnote, or an exponent, is no digit of the number. */
function superscript({ text, left, right }: Glyph): Placed {
  return { text: text.replace(/\d/gu, (digit) => SUPERSCRIPTS[Number(digit)] ?? ''), left, right };
}

/** Widens a piece: a glyph without text has its width nevertheless. */
function widen(piece: Piece, right: number): void {
  piece.right = Math.max(piece.right, right);
  const last = piece.glyphs.pop();
  if (last !== undefined) piece.glyphs.push({ ...last, right: Math.max(last.right, right) });
}

type Extent = Pick<Piece, 'left' | 'right' | 'y' | 'size' | 'isBold'>;

/** @param fromRight the next glyph is read from the right */
function continues(open: Piece, next: Extent, fromRight: boolean): boolean {
  const size = Math.max(open.size, next.size);
  const onRight = next.left - open.right;
  if (Math.abs(open.y - next.y) >= SAME_BASELINE * size) return false;
  // Programs draw a line that is read from right to left, or a part of it, from either end, and numbers in it the other way round.
  if (open.fromRight || fromRight) return Math.max(onRight, open.left - next.right) < CELL_GAP * size;
  return onRight < CELL_GAP * size && onRight > -size;
}

/** Joins pieces: words that are read from the left can be drawn before those from the right between which they stand. */
function joinRightToLeft(pieces: readonly Piece[]): readonly Piece[] {
  if (!pieces.some(({ fromRight }) => fromRight)) return pieces;
  const joined: Piece[] = [];
  const byPlace = [...pieces].sort((one, other) => Math.round(one.y) - Math.round(other.y) || one.left - other.left);
  for (const piece of byPlace) {
    const last = joined.at(-1);
    if (last !== undefined && (last.fromRight || piece.fromRight) && continues(last, piece, true)) {
      last.glyphs.push(...piece.glyphs);
      extend(last, piece, piece.fromRight);
    } else joined.push(piece);
  }
  return joined;
}

function extend(piece: Piece, next: Extent, fromRight: boolean): void {
  piece.left = Math.min(piece.left, next.left);
  piece.right = Math.max(piece.right, next.right);
  piece.size = Math.max(piece.size, next.size);
  piece.isBold &&= next.isBold;
  piece.fromRight ||= fromRight;
}

function makeLine({ glyphs, fromRight, left, right, y, size, isBold }: Piece): LinePiece {
  const text = fromRight ? bidirectionalText(glyphs, WORD_GAP_FROM_RIGHT * size) : plainText(glyphs, WORD_GAP * size);
  return { text: text.trim(), left, right, y, size, isBold };
}

/** Bangla and its relatives write their signs around a letter: whatever their distance is, no word begins with one. */
const SIGN = /^[\p{M}\u200c\u200d]/u;

function plainText(glyphs: Piece['glyphs'], wordGap: number): string {
  let text = '';
  let end = glyphs[0]?.left ?? 0;
  for (const glyph of glyphs) {
    const isApart = glyph.left - end > wordGap && glyph.text !== ' ';
    // Letters before the first script with signs need no look.
    if (glyph.text > '\u0300' && SIGN.test(glyph.text)) text = text.trimEnd();
    else if (isApart && !text.endsWith(' ')) text += ' ';
    text += glyph.text;
    end = glyph.right;
  }
  return text;
}

/** Sorts the parts of one line in the order in which a person reads them: from the right if most of its letters are of a script that is. */
export function inReadingOrder<Part extends { readonly text: string; readonly left: number; readonly right: number }>(
  parts: readonly Part[],
): readonly Part[] {
  if (parts.length < 2) return parts;
  const fromRight = isMostlyRightToLeft(parts.map(({ text }) => text).join(' '));
  return [...parts].sort((one, other) => (fromRight ? other.right - one.right : one.left - other.left));
}

/**
 * Groups pieces by their baseline, from the top. @param isSame tells whether a piece stands on the baseline of the first one that was found
 * on it
 */
export function byBaseline(
  pieces: readonly LinePiece[],
  isSame: (first: LinePiece, piece: LinePiece) => boolean,
): readonly (readonly LinePiece[])[] {
  const baselines: LinePiece[][] = [];
  for (const piece of [...pieces].sort((one, other) => one.y - other.y)) {
    const last = baselines.at(-1);
    if (last?.[0] !== undefined && isSame(last[0], piece)) last.push(piece);
    else baselines.push([piece]);
  }
  return baselines;
}

/** Takes any number of values: as arguments of `Math.min`, a hundred thousand would be too many. */
export function smallest(values: readonly number[]): number {
  return values.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY);
}

export function largest(values: readonly number[]): number {
  return values.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);
}

/** Returns the font height that most characters have: the body's. 0 when there are none. */
export function usualSize(texts: readonly { readonly size: number; readonly text: string }[]): number {
  const characters = new Map<number, number>();
  for (const { size, text } of texts) characters.set(roundedSize(size), (characters.get(roundedSize(size)) ?? 0) + text.length);
  return [...characters].sort((one, other) => other[1] - one[1])[0]?.[0] ?? 0;
}

/** Rounds to half a point: programs scale fonts a little. */
export function roundedSize(size: number): number {
  return Math.round(size * 2) / 2;
}
