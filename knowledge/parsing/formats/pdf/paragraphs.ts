import { largest, type Line } from './page-lines.ts';
import type { Region } from './reading-order.ts';

/** Lines that are read as one. */
export interface Paragraph {
  readonly page: number;
  readonly text: string;
  /** Height of the font. */
  readonly size: number;
  readonly isListItem: boolean;
  /** All of it. */
  readonly isBold: boolean;
}

const BULLET = /^(?:[•▪▫●○◦‣∙·■□–—*-]|\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})[.)])\s+(?=\S)/u;
const SENTENCE_END = /[.!?…:;।॥。！？”"')\]]$/u;

/** Joins lines where the distance, the size and the indent say that the text goes on. */
export function paragraphsOf(regions: readonly Region[], page: number): readonly Paragraph[] {
  const leading = usualLeading(regions);
  const paragraphs: Line[][] = [];
  let before: { readonly line: Line; readonly region: Region } | undefined;
  for (const region of regions) {
    for (const line of region.lines) {
      const last = paragraphs.at(-1);
      if (last !== undefined && before !== undefined && goesOn(before, { line, region }, leading)) last.push(line);
      else paragraphs.push([line]);
      before = { line, region };
    }
  }
  return paragraphs.map((lines) => {
    const text = joined(lines.map((line) => line.text));
    return {
      page,
      text,
      size: largest(lines.map((line) => line.size)),
      isListItem: BULLET.test(text),
      isBold: lines.every((line) => line.isBold),
    };
  });
}

interface Placed {
  readonly line: Line;
  readonly region: Region;
}

function goesOn(before: Placed, next: Placed, leading: number): boolean {
  const { line: last, region } = before;
  const { line } = next;
  if (Math.abs(last.size - line.size) > 0.12 * Math.max(last.size, line.size) || BULLET.test(line.text)) return false;
  // From the foot of a column to the head of the next one.
  if (next.region !== region) return !SENTENCE_END.test(last.text) && /^\p{Ll}/u.test(line.text);
  const distance = line.y - last.y;
  if (distance > Math.min(1.3 * leading, 3 * line.size)) return false;
  const width = region.right - region.left;
  // A heading in bold above its text, and a text above such a heading. Bold words that fill a line are none.
  if (last.isBold && !line.isBold && last.right < region.right - 0.15 * width) return false;
  if (!last.isBold && line.isBold && SENTENCE_END.test(last.text)) return false;
  const endsEarly = last.right < region.right - 0.25 * width && SENTENCE_END.test(last.text);
  const isIndented = line.left > last.left + line.size && last.left < region.left + line.size && SENTENCE_END.test(last.text);
  return !endsEarly && !isIndented;
}

/** The distance between baselines that most lines have; 1.2 times the font where there is nothing to measure. */
function usualLeading(regions: readonly Region[]): number {
  const distances = regions
    .flatMap(({ lines }) => lines.slice(1).map((line, at) => ({ distance: line.y - (lines[at]?.y ?? 0), size: line.size })))
    .filter(({ distance, size }) => distance > 0.5 * size && distance < 3 * size)
    .map(({ distance }) => distance)
    .sort((one, other) => one - other);
  const size = regions[0]?.lines[0]?.size ?? 12;
  return distances[Math.floor(distances.length / 2)] ?? 1.5 * size;
}

/** A word that was divided at the end of a line is made whole. */
function joined(lines: readonly string[]): string {
  let text = '';
  for (const line of lines.map((each) => each.trim())) {
    const end = text.slice(-2);
    if (/\p{Ll}[-\u00ad\u2010]$/u.test(end) && /^\p{Ll}/u.test(line)) text = text.slice(0, -1) + line;
    else text += (text === '' || /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]$/u.test(end) ? '' : ' ') + line;
  }
  return text;
}
