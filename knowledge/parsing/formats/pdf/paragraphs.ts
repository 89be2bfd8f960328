import { largest, type Line, roundedSize } from './page-lines.ts';
import { joinLines } from './hyphenation.ts';
import type { Region } from './reading-order.ts';
import { type PageTable, splitTables } from './tables.ts';

export interface Paragraph {
  readonly kind: 'text';
  readonly page: number;
  readonly text: string;
  readonly size: number;
  readonly isListItem: boolean;
  readonly isBold: boolean;
}

const BULLET = /^(?:[•▪▫●○◦‣∙·■□–—*-]|\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})[.)])\s+(?=\S)/u;
/** Numbers of full width, or in circles, need no space behind them: `１．２`, `（１）`, `①`. */
const WIDE_BULLET = /^(?:[０-９]{1,2}(?:[．・][０-９]{0,2})*\s|[０-９]{1,2}[．、]|（[０-９\d]{1,2}）|[①-⑳])(?=\s*\S)/u;
const SIGN = /^[•▪▫●○◦‣∙·■□–—*-]\s+(?=\S)/u;
/** Largest distance of a heading's lines, as a share of their height. */
const LEADING = 1.45;
const SENTENCE_END = /[.!?…:;।॥。！？”"')\]]$/u;

/**
 * Returns the parts of a page in reading order: tables, and lines joined to paragraphs where distance, size and indent show that the text
 * goes on.
 */
export function pageParts(regions: readonly Region[], page: number, words: ReadonlySet<string>): readonly (Paragraph | PageTable)[] {
  const leading = usualLeading(regions);
  const parts: (Line[] | PageTable)[] = [];
  let before: Placed | undefined;
  for (const region of regions) {
    for (const part of splitTables(region.lines, page)) {
      if ('kind' in part) {
        parts.push(part);
        before = undefined;
        continue;
      }
      for (const line of part) {
        const last = parts.at(-1);
        if (Array.isArray(last) && before !== undefined && goesOn(before, { line, region }, leading)) last.push(line);
        else parts.push([line]);
        before = { line, region };
      }
    }
  }
  return parts.map((part) => (Array.isArray(part) ? paragraphOf(part, page, words) : part));
}

function paragraphOf(lines: readonly Line[], page: number, words: ReadonlySet<string>): Paragraph {
  const whole = lines.reduce((before, line) => joinLines(before, line.text.trim(), words), '');
  const isListItem = startsItem(whole);
  // A list's own sign stands in front of each chunk's text; its numbers mean something.
  const text = whole.replace(SIGN, '');
  return {
    kind: 'text',
    page,
    text,
    size: largest(lines.map((line) => line.size)),
    isListItem,
    isBold: lines.every((line) => line.isBold),
  };
}

function startsItem(text: string): boolean {
  return BULLET.test(text) || WIDE_BULLET.test(text);
}

interface Placed {
  readonly line: Line;
  readonly region: Region;
}

function goesOn(before: Placed, next: Placed, leading: number): boolean {
  const { line: last, region } = before;
  const { line } = next;
  if (Math.abs(last.size - line.size) > 0.12 * Math.max(last.size, line.size) || startsItem(line.text)) return false;
  // The text may go on from the foot of a column to the head of the next one.
  if (next.region !== region) return !SENTENCE_END.test(last.text) && /^\p{Ll}/u.test(line.text);
  const distance = line.y - last.y;
  // A heading's lines have a leading of their own, which is that of the body where they are of its size.
  if (
    distance > Math.min(Math.max(1.3 * leading, roundedSize(last.size) === roundedSize(line.size) ? LEADING * line.size : 0), 3 * line.size)
  )
    return false;
  const width = region.right - region.left;
  // These are a heading in bold above its text, and a text above such a heading. Bold words that fill a line are none.
  if (last.isBold && !line.isBold && last.right < region.right - 0.15 * width) return false;
  if (!last.isBold && line.isBold && SENTENCE_END.test(last.text)) return false;
  const endsEarly = last.right < region.right - 0.25 * width && SENTENCE_END.test(last.text);
  const isIndented = line.left > last.left + line.size && last.left < region.left + line.size && SENTENCE_END.test(last.text);
  return !endsEarly && !isIndented;
}

/** A line that ends behind this share of its region's width fills it. */
const FULL = 0.9;

/** Returns the usual distance between baselines by lines that fill their width: below others a paragraph may end. */
function usualLeading(regions: readonly Region[]): number {
  const steps = regions.flatMap(({ lines, left, right }) =>
    lines.slice(1).flatMap((line, at) => {
      const above = lines[at];
      const distance = line.y - (above?.y ?? 0);
      if (above === undefined || distance <= 0.5 * line.size || distance >= 3 * line.size) return [];
      return [{ distance, isFull: above.cells.length === 1 && above.right >= left + FULL * (right - left) }];
    }),
  );
  const full = steps.filter(({ isFull }) => isFull);
  const size = regions[0]?.lines[0]?.size ?? 12;
  return median(full) ?? median(steps) ?? 1.5 * size;
}

/** Returns the lower of two middle values: some full lines end a paragraph, too. */
function median(steps: readonly { readonly distance: number }[]): number | undefined {
  return steps.map(({ distance }) => distance).sort((one, other) => one - other)[Math.floor((steps.length - 1) / 2)];
}
