import type { Sink } from '../../block.ts';
import { RAISED, resolveMarks, STRUCK } from '../../text/marked-text.ts';
import type { RunFormat } from './styles.ts';

export interface Paragraph {
  readonly text: string;
  /** Level of the heading; undefined unless its style makes it one. */
  readonly headingLevel: number | undefined;
  readonly isBold: boolean;
  /** Absent where it belongs to no list. */
  readonly item?: ListItem;
}

export interface ListItem {
  readonly numId: string;
  /** Level of the list, from 0. */
  readonly level: number;
  /** The number in front, e.g. `4.2`; empty for bullets. */
  readonly label: string;
}

/** Most characters of a clause's title. */
const LONGEST_TITLE = 100;
const TYPED_NUMBER =
  /^(?:§{1,2}\s*\d|(?:article|artikel|artículo|articolo|artigo|section|clause|art\.)\s*\d|\d{1,3}(?:\.\d{1,3})*\.?\s|[IVX]{1,5}\.\s)/iu;

export class ParagraphText {
  #parts: string[] = [];
  #isBold = true;
  #hasText = false;

  add(text: string, { isBold, isStruck, isRaised }: RunFormat): void {
    if (/\S/u.test(text)) {
      this.#hasText = true;
      if (isBold !== true) this.#isBold = false;
    }
    const raised = isRaised === true ? RAISED.open + text + RAISED.close : text;
    this.#parts.push(isStruck === true ? STRUCK.open + raised + STRUCK.close : raised);
  }

  get isBold(): boolean {
    return this.#hasText && this.#isBold;
  }

  /** Joins runs that look alike: programs cut them anywhere. */
  resolve(sink: Pick<Sink, 'warn'>): string {
    const marked = this.#parts
      .join('')
      .replaceAll(STRUCK.close + STRUCK.open, '')
      .replaceAll(RAISED.close + RAISED.open, '');
    return resolveMarks(marked, sink);
  }
}

/** Writes a paragraph with its number, once. */
export function labelled({ text, item }: Paragraph): string {
  return item === undefined || item.label === '' || text.trim() === '' ? text : `${item.label} ${text.trimStart()}`;
}

/**
 * Returns the levels of lists whose items are titles of clauses: short, without a full stop, and hardly ever one directly behind the other.
 * An item that is alone on its level is undecidable.
 * @param paragraphs undefined for a table
 */
export function clauseLevels(paragraphs: readonly (Paragraph | undefined)[]): ReadonlySet<string> {
  const levels = new Map<string, { items: number; titles: number; followed: number }>();
  for (const [at, paragraph] of paragraphs.entries()) {
    const level = listLevel(paragraph);
    if (paragraph === undefined || level === undefined) continue;
    const counts = levels.get(level) ?? { items: 0, titles: 0, followed: 0 };
    levels.set(level, counts);
    counts.items += 1;
    if (isTitle(paragraph)) counts.titles += 1;
    if (listLevel(paragraphs[at + 1]) === level) counts.followed += 1;
  }
  const found = [...levels].filter(([, { items, titles, followed }]) => items > 1 && titles >= items * 0.8 && followed <= items * 0.2);
  return new Set(found.map(([level]) => level));
}

/**
 * Tells whether a paragraph without a heading's style is the title of a clause: short, with a number, without a full stop, and either bold,
 * or one of a level of titles.
 * @param after undefined for a table or the end
 */
export function isClauseTitle(paragraph: Paragraph, after: Paragraph | undefined, levels: ReadonlySet<string>): boolean {
  if (!isTitle(paragraph)) return false;
  if (paragraph.isBold && after?.isBold !== true) return listLevel(paragraph) !== undefined || TYPED_NUMBER.test(paragraph.text.trim());
  return levels.has(listLevel(paragraph) ?? '');
}

function isTitle({ text }: Paragraph): boolean {
  const line = text.trim();
  return line.length <= LONGEST_TITLE && /\p{L}{2}/u.test(line) && !/[.,;:!?…]$/u.test(line);
}

/** Names the list level of a numbered paragraph that has no heading's style. */
function listLevel(paragraph: Paragraph | undefined): string | undefined {
  const item = paragraph?.headingLevel === undefined ? paragraph?.item : undefined;
  return item === undefined || item.label === '' ? undefined : `${item.numId} ${item.level}`;
}
