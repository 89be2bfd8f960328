import type { FormValue } from './form-values.ts';
import { smallest, type LinePiece } from './page-lines.ts';

/** Words of which, with numbers, programs make names: `Text12`, `f1_01[0]`, `Check Box 3`. */
const MADE_WORDS = new Set(
  'text field form fill input check radio combo list drop down group button box date image signature untitled undefined feld champ campo page row line cell table'.split(
    ' ',
  ),
);
const LONGEST_LABEL = 120;
const LETTERS = /\p{L}{2}/u;

/**
 * Returns the lines of a form's values. A value that the page doesn't name gets its name from the form: its description where the page has
 * other words, and the field's own name where nothing is printed in front of it.
 *
 * @param printed the page's own lines
 */
export function labelledValues(values: readonly FormValue[], printed: readonly LinePiece[]): readonly LinePiece[] {
  const said = comparable(printed.map(({ text }) => text).join(' '));
  return values.flatMap((value) => {
    const [first, ...others] = value.lines;
    if (first === undefined) return [];
    const label = labelOf(value, first, printed, said);
    return label === undefined ? value.lines : [{ ...first, text: `${label}: ${first.text}` }, ...others];
  });
}

function labelOf(value: FormValue, line: LinePiece, printed: readonly LinePiece[], said: string): string | undefined {
  const description = value.description.replace(/\s+/gu, ' ').replace(/\s*[:：]?\s*$/u, '');
  if (LETTERS.test(description)) return isSaid(description, said) ? undefined : description.slice(0, LONGEST_LABEL).trim();
  const name = plainName(value.name);
  return name === undefined || isSaid(name, said) || hasLabel(line, printed) ? undefined : name;
}

function isSaid(label: string, said: string): boolean {
  return said.includes(comparable(label));
}

function comparable(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, '');
}

/** Reads a plain name: `guest.firstName[0]` is `first Name`. */
function plainName(name: string): string | undefined {
  const words = (name.split('.').at(-1) ?? '')
    .replace(/\[\d+\]/gu, '')
    .replace(/[_-]+/gu, ' ')
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .trim();
  return words.length <= LONGEST_LABEL && words.split(/[^\p{L}\p{M}]+/u).some(isMeant) ? words : undefined;
}

function isMeant(word: string): boolean {
  return LETTERS.test(word) && !MADE_WORDS.has(word.toLowerCase());
}

/** Tells whether text is printed beside it, or close above. */
function hasLabel({ left, right, y, size }: LinePiece, printed: readonly LinePiece[]): boolean {
  const beside = printed.some((piece) => Math.abs(piece.y - y) < 0.6 * size);
  const above = printed.filter((piece) => piece.y < y && piece.left < right && piece.right > left);
  return beside || smallest(above.map((piece) => y - piece.y)) < 2 * size;
}
