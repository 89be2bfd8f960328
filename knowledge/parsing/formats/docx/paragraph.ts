import type { Sink } from '../../block.ts';
import { RAISED, resolveMarks, STRUCK } from '../../text/marked-text.ts';
import type { RunFormat } from './styles.ts';

/** A paragraph as it stands in the document. */
export interface Paragraph {
  readonly text: string;
  /** Undefined for what is no heading by its style. */
  readonly headingLevel: number | undefined;
  /** All of its text. */
  readonly isBold: boolean;
  /** Absent where it belongs to no list. */
  readonly item?: ListItem;
}

export interface ListItem {
  readonly numId: string;
  /** From 0. */
  readonly level: number;
  /** `4.2`; empty for bullets. */
  readonly label: string;
}

/** A clause's title is shorter. */
const LONGEST_TITLE = 100;
const TYPED_NUMBER =
  /^(?:§{1,2}\s*\d|(?:article|artikel|artículo|articolo|artigo|section|clause|art\.)\s*\d|\d{1,3}(?:\.\d{1,3})*\.?\s|[IVX]{1,5}\.\s)/iu;

/** Collects the text of a paragraph, run by run. */
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

  /** Runs that look alike are one: programs cut them anywhere. */
  resolve(sink: Pick<Sink, 'warn'>): string {
    const marked = this.#parts
      .join('')
      .replaceAll(STRUCK.close + STRUCK.open, '')
      .replaceAll(RAISED.close + RAISED.open, '');
    return resolveMarks(marked, sink);
  }
}

/** With its number, once. */
export function labelled({ text, item }: Paragraph): string {
  return item === undefined || item.label === '' || text.trim() === '' ? text : `${item.label} ${text.trimStart()}`;
}

/**
 * Whether a paragraph without a heading's style is the title of a clause: short, with a number, without a full stop, and either bold, or
 * the only one of its level between texts.
 * @param after `table` for a table, undefined for the end
 */
export function isClauseTitle(paragraph: Paragraph, before: Paragraph | undefined, after: Paragraph | 'table' | undefined): boolean {
  const { text, item, isBold } = paragraph;
  const line = text.trim();
  if (line.length > LONGEST_TITLE || !/\p{L}{2}/u.test(line) || /[.,;:!?…]$/u.test(line)) return false;
  const isNumbered = item === undefined ? TYPED_NUMBER.test(line) : item.label !== '';
  if (!isNumbered || after === undefined) return false;
  if (after === 'table') return isBold;
  if (isBold) return !after.isBold;
  return item !== undefined && !isBeside(item, before) && !isBeside(item, after) && after.text.length > line.length;
}

/** On the level of the item or above it, in the same list. */
function isBeside(item: ListItem, other: Paragraph | undefined): boolean {
  return other?.item !== undefined && other.item.numId === item.numId && other.item.level <= item.level;
}
