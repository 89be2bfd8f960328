import type { Paragraph } from './paragraphs.ts';
import { roundedSize, usualSize } from './usual-size.ts';

/** How much larger than the body a heading is; how long it may be. */
const larger = 1.12;
const longest = 200;
/** Dots that lead to a page number: an entry in a table of contents. */
const leaders = /(?:\.\s?){5}/u;

/** Tells headings from body text by the size of their font, and by the document's own table of bookmarks. */
export class Headings {
  readonly #body: number;
  readonly #levels: ReadonlyMap<number, number>;
  readonly #bookmarks: ReadonlyMap<string, number>;

  constructor(paragraphs: readonly Paragraph[], bookmarks: ReadonlyMap<string, number>) {
    this.#body = usualSize(paragraphs);
    this.#bookmarks = bookmarks;
    const sizes = new Set(paragraphs.filter((paragraph) => this.#isLarge(paragraph)).map((paragraph) => roundedSize(paragraph.size)));
    this.#levels = new Map([...sizes].sort((one, other) => other - one).map((size, at) => [size, at + 1]));
  }

  /** From 1 for the outermost; undefined for what is no heading. */
  level(paragraph: Paragraph): number | undefined {
    const bookmarked = paragraph.text.length <= longest ? this.#bookmarks.get(bookmarkKey(paragraph.text)) : undefined;
    return this.#isLarge(paragraph)
      ? this.#levels.get(roundedSize(paragraph.size))
      : bookmarked === undefined
        ? undefined
        : this.#levels.size + bookmarked;
  }

  #isLarge({ size, text }: Paragraph): boolean {
    return size >= this.#body * larger && text.length <= longest && /\p{L}{2}/u.test(text) && !leaders.test(text);
  }
}

/** How titles are compared: without case, spaces and numbering. */
export function bookmarkKey(title: string): string {
  return title
    .normalize('NFKC')
    .toLowerCase()
    .replace(/^[\d.\s]+/u, '')
    .replace(/\s+/gu, '');
}
