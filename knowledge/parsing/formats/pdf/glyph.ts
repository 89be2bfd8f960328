import type { Address, Pdfium } from './pdfium.ts';

/**
 * A drawn piece of text at one place: a letter, a ligature, or the file's replacement text. In points from the page's upper left corner.
 */
export interface Glyph {
  readonly text: string;
  readonly left: number;
  readonly right: number;
  /** Height of the baseline. */
  readonly y: number;
  readonly size: number;
  readonly isBold: boolean;
}

/** The properties that all characters of one drawing instruction share. */
export interface TextObject extends Font {
  readonly size: number;
  /** Number of quarter turns by which the text is rotated; -1 between two. */
  readonly turn: number;
  readonly span: ActualText | undefined;
  /** True if it is drawn without ink, as an OCR program's text over the picture of a page is. */
  readonly isInvisible: boolean;
  readonly isWhite: boolean;
}

export interface Font {
  readonly isBold: boolean;
  /** True for a font of type 3: each letter is a drawing of its own. */
  readonly isDrawnFont: boolean;
}

/** The replacement text of a span of marked content (`/ActualText`), whatever its glyphs are. */
export interface ActualText {
  readonly text: string;
}

/** A glyph on the page, in numbers of its own, not in points: a document has millions. */
export interface Character extends Glyph {
  text: string;
  readonly object: TextObject;
  /** The point where it begins, on its baseline. */
  readonly x: number;
  /** Two corners of its box. */
  left: number;
  fromY: number;
  right: number;
  toY: number;
}

export type Point = readonly [x: number, y: number];

/** Maps the page's own coordinates to the upper left corner, with the page's rotation: `a·x + b·y + c`, and `d·x + e·y + f`. */
export class Placing {
  readonly a: number;
  readonly b: number;
  readonly c: number;
  readonly d: number;
  readonly e: number;
  readonly f: number;

  constructor(pdfium: Pdfium, page: Address) {
    pdfium.api.FPDF_GetPageBoundingBox(page, pdfium.scratch);
    const [left, top, right, bottom] = pdfium.floats();
    const turns = [
      [1, 0, -left, 0, -1, top],
      [0, 1, -bottom, 1, 0, -left],
      [-1, 0, right, 0, 1, -bottom],
      [0, -1, top, -1, 0, right],
    ];
    const [a = 1, b = 0, c = 0, d = 0, e = -1, f = 0] = turns[pdfium.api.FPDFPage_GetRotation(page)] ?? [];
    [this.a, this.b, this.c, this.d, this.e, this.f] = [a, b, c, d, e, f];
  }

  point(x: number, y: number): Point {
    return [this.a * x + this.b * y + this.c, this.d * x + this.e * y + this.f];
  }

  direction(x: number, y: number): Point {
    return [this.a * x + this.b * y, this.d * x + this.e * y];
  }
}
