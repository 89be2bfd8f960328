import type { Paragraph } from './paragraphs.ts';
import { roundedSize, usualSize } from './page-lines.ts';

/** A heading's font is larger than the body's by this factor; and a heading has at most `LONGEST` characters. */
const LARGER = 1.12;
const LONGEST = 200;
/** A heading that is only bold is short, and no sentence; and where much of a text is bold, bold means nothing. */
const LONGEST_BOLD = 120;
const MOST_BOLD = 0.3;
const ENDING = /[.,;:!?…।॥。！？]$/u;
/** Dots that lead to a page number: an entry in a table of contents. */
const LEADERS = /(?:\.\s?){5}/u;

/** Distinguishes headings from body text by the size of their font, by bold type, and by the document's own table of bookmarks. */
export class Headings {
  readonly #body: number;
  readonly #levels: ReadonlyMap<number, number>;
  readonly #bookmarks: ReadonlyMap<string, number>;
  readonly #boldCounts: boolean;

  constructor(paragraphs: readonly Paragraph[], bookmarks: ReadonlyMap<string, number>) {
    this.#body = usualSize(paragraphs);
    this.#bookmarks = bookmarks;
    const characters = (some: readonly Paragraph[]): number => some.reduce((sum, { text }) => sum + text.length, 0);
    this.#boldCounts = characters(paragraphs.filter(({ isBold }) => isBold)) <= MOST_BOLD * characters(paragraphs);
    const sizes = new Set(paragraphs.filter((paragraph) => this.#isLarge(paragraph)).map((paragraph) => roundedSize(paragraph.size)));
    this.#levels = new Map([...sizes].sort((one, other) => other - one).map((size, at) => [size, at + 1]));
  }

  /** Returns the level from 1 for the outermost; undefined for body text. */
  level(paragraph: Paragraph): number | undefined {
    const bookmarked = paragraph.text.length <= LONGEST ? this.#bookmarks.get(bookmarkKey(paragraph.text)) : undefined;
    if (this.#isLarge(paragraph)) return this.#levels.get(roundedSize(paragraph.size));
    if (bookmarked !== undefined) return this.#levels.size + bookmarked;
    return this.#isBoldHeading(paragraph) ? this.#levels.size + 1 : undefined;
  }

  #isBoldHeading({ isBold, size, text }: Paragraph): boolean {
    return (
      this.#boldCounts &&
      isBold &&
      roundedSize(size) >= this.#body &&
      text.length <= LONGEST_BOLD &&
      /\p{L}{2}/u.test(text) &&
      !ENDING.test(text) &&
      !LEADERS.test(text)
    );
  }

  #isLarge({ size, text }: Paragraph): boolean {
    return size >= this.#body * LARGER && text.length <= LONGEST && /\p{L}{2}/u.test(text) && !LEADERS.test(text);
  }
}

/** Returns the form in which titles are compared: without case, spaces and numbering. */
export function bookmarkKey(title: string): string {
  return title
    .normalize('NFKC')
    .toLowerCase()
    .replace(/^[\d.\s]+/u, '')
    .replace(/\s+/gu, '');
}
