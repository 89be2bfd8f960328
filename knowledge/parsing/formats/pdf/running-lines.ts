import { byBaseline, type LinePiece, smallest, usualSize } from './page-lines.ts';

export interface PageOfLines {
  readonly number: number;
  readonly height: number;
  readonly lines: readonly LinePiece[];
}

/** A line counts as a header or footer if at least so many pages, and this share of them, repeat it at the same height. */
const LEAST_PAGES = 3;
const LEAST_SHARE = 0.4;
/** The strips at the top and at the bottom in which headers and footers stand, as a share of the page's height. */
const STRIP = 0.14;
/**
 * Text around a page number is short (`Annual report | 7`), no larger than the body's, and stands further out: chapters have numbers too.
 */
const LONGEST_NUMBERED = 60;
const OUTER_STRIP = 0.07;

/**
 * Finds headers and footers: the same words at the same edge of many pages, where a number at the same height may count the pages. No page
 * loses all its lines this way.
 *
 * @returns all of them, and the first of each, unless it is but a number: added once, searches still find it
 */
export function runningLines(pages: readonly PageOfLines[]): {
  readonly all: ReadonlySet<LinePiece>;
  readonly first: ReadonlySet<LinePiece>;
} {
  const body = usualSize(pages.flatMap((page) => page.lines.map(({ size, text }) => ({ size, text }))));
  const found = new Map<string, { readonly page: number; readonly line: LinePiece }[]>();
  for (const page of pages) {
    for (const line of edgeLines(page)) {
      for (const key of keys(line, page, body)) {
        const list = found.get(key) ?? [];
        list.push({ page: page.number, line });
        found.set(key, list);
      }
    }
  }
  const needed = Math.max(LEAST_PAGES, LEAST_SHARE * pages.filter((page) => page.lines.length > 0).length);
  const running = new Set<LinePiece>();
  const first = new Map<string, LinePiece>();
  for (const list of found.values()) {
    if (new Set(list.map(({ page }) => page)).size < needed) continue;
    for (const { line } of list) running.add(line);
    const text = list[0]?.line.text ?? '';
    if (list[0] !== undefined && isWorthKeeping(text)) first.set(text, list[0].line);
  }
  for (const page of pages) {
    if (page.lines.every((line) => running.has(line))) for (const line of page.lines) running.delete(line);
  }
  return { all: running, first: new Set([...first.values()].filter((line) => running.has(line))) };
}

/** Rejects lines without content, such as `Page 1 of 12`. */
function isWorthKeeping(text: string): boolean {
  return (text.match(/\p{L}{2,}/gu) ?? []).some((word) => !/^(?:page|of|seite|von|p[aá]gina|de|sur|পৃষ্ঠা)$/iu.test(word));
}

/**
 * Returns the pieces of the two outermost baselines at each end, if they stand in the strips. The first row of a table is close to the
 * next.
 */
function edgeLines(page: PageOfLines): readonly LinePiece[] {
  const baselines = byBaseline(page.lines, (first, line) => line.y - first.y < 0.5 * line.size);
  const edges = [0, 1, baselines.length - 2, baselines.length - 1];
  return [...new Set(edges.flatMap((at) => (isRow(baselines, at) ? [] : (baselines[at] ?? []))))].filter(
    ({ y }) => y < STRIP * page.height || y > (1 - STRIP) * page.height,
  );
}

/** Tells whether cells are as close to the next line inwards as that is to its own. */
function isRow(baselines: readonly (readonly LinePiece[])[], at: number): boolean {
  const inwards = at < baselines.length / 2 ? 1 : -1;
  const [y = 0, next = 0, afterNext = 0] = [0, 1, 2].map((steps) => baselines[at + steps * inwards]?.[0]?.y);
  return (baselines[at]?.length ?? 0) > 1 && Math.abs(next - y) < 1.4 * Math.abs(afterNext - next);
}

/**
 * Returns the line itself, and with each of its numbers replaced by its distance from the page's number, which stays the same if it counts
 * pages.
 */
function keys(line: LinePiece, page: PageOfLines, body: number): readonly string[] {
  const place = Math.round(line.y / 3);
  const words = line.text.trim().split(/\s+/u);
  const plain = `${line.y < page.height / 2 ? 'top' : 'bottom'} ${words.join(' ')}`;
  const isOuter = line.y < OUTER_STRIP * page.height || line.y > (1 - OUTER_STRIP) * page.height;
  const isTitle = line.size > 1.05 * body && isWorthKeeping(line.text);
  if (line.text.length > LONGEST_NUMBERED || !isOuter || isTitle || !standsApart(line, page)) return [plain];
  const numbered = words.flatMap((word, at) => {
    const number = /^[^\p{L}\p{N}]*(\d{1,5})[^\p{L}\p{N}]*$/u.exec(word)?.[1];
    if (number === undefined) return [];
    return [`${place} ${[...words.slice(0, at), `#${Number(number) - page.number}`, ...words.slice(at + 1)].join(' ')}`];
  });
  return [plain, ...numbered];
}

/** Tells whether the line stands apart: body text that happens to name the page's number is close to more text. */
function standsApart(line: LinePiece, page: PageOfLines): boolean {
  const inwards = page.lines
    .map((other) => (line.y < page.height / 2 ? other.y - line.y : line.y - other.y))
    .filter((distance) => distance > 0.5 * line.size);
  return smallest(inwards) > 1.7 * line.size;
}
