/** Reads the body, notes, headers or footers of a Word document: paragraphs and tables in their order. */
import type { Sink } from '../../block.ts';
import { HIDDEN_TEXT_LEFT_OUT, leftOut, PLACEHOLDERS_LEFT_OUT, WHITE_TEXT_LEFT_OUT } from '../../left-out.ts';
import { tick } from '../../text/tick.ts';
import { MOST_COLUMNS, TableBuilder } from '../table-builder.ts';
import type { Numbering } from './numbering.ts';
import { labelled, type ListItem, type Paragraph, ParagraphText } from './paragraph.ts';
import { isShading, outlineLevel, type RunFormat, runProperty, type Style, type Styles } from './styles.ts';
import { symbol } from './symbols.ts';
import { type Attributes, integer, isOn, walkXml } from './xml.ts';
import { present } from '../../../../platform/present.ts';

export type BodyItem = Paragraph | TableBuilder;

export interface BodyContext {
  readonly styles: Styles;
  readonly numbering: Numbering;
  readonly sink: Pick<Sink, 'warn'>;
  /** True if the page has a colour, or pictures stand behind its text: then readers see white text. */
  readonly hasBackdrop: boolean;
  /** Returns the number of the note with this id, counted from its first mention. */
  readonly noteNumber: (kind: 'footnote' | 'endnote', id: string) => number;
}

/** Elements that are not read: deleted, moved away, above the line, or a former look. */
const UNREAD = new Set([
  'del',
  'moveFrom',
  'rt',
  'rPrChange',
  'pPrChange',
  'tblPrChange',
  'trPrChange',
  'tcPrChange',
  'sectPrChange',
  'numberingChange',
]);

const EQUATIONS = leftOut('equations');
const EMBEDDED = leftOut('embedded documents', 'open the document in Word and save it to have them read');

interface OpenParagraph {
  readonly text: ParagraphText;
  readonly style: Style;
  readonly styleId: string | undefined;
  readonly headingLevel: number | undefined;
  readonly numId: string | undefined;
  readonly level: number | undefined;
  readonly isShaded: boolean;
  /** Text boxes that are anchored in the paragraph; they come after it. */
  readonly boxes: readonly BodyItem[];
}

interface OpenTable {
  readonly builder: TableBuilder;
  isHeaderRow: boolean;
  /** True if all of the table, or a part of it, has a colour by its style. */
  isShaded: boolean;
  cell: OpenCell | undefined;
}

interface OpenCell {
  columns: number;
  continuesAbove: boolean;
  isStarted: boolean;
  isShaded: boolean;
}

interface OpenField {
  isPlaceholder: boolean;
  checkBox: boolean | undefined;
}

/** @returns the items of a part; of each paragraph only the visible text */
export function readBody(part: Buffer | undefined, context: BodyContext): readonly BodyItem[] {
  const reader = new BodyReader(context);
  walkXml(part, reader);
  return reader.items;
}

/** @returns the items of each note by its id; `element` is the name of a note's element */
export function readNotes(
  part: Buffer | undefined,
  element: 'footnote' | 'endnote',
  context: BodyContext,
): ReadonlyMap<string, readonly BodyItem[]> {
  const notes = new Map<string, readonly BodyItem[]>();
  let reader = new BodyReader(context);
  walkXml(part, {
    open: (name, attributes) => {
      if (name !== element) return reader.open(name, attributes);
      reader = new BodyReader(context);
      notes.set(attributes['id'] ?? '', reader.items);
    },
    text: (text) => reader.text(text),
    close: (name) => {
      if (name !== element) reader.close(name);
    },
  });
  return notes;
}

class BodyReader {
  readonly items: BodyItem[] = [];
  readonly #context: BodyContext;
  readonly #paragraphs: OpenParagraph[] = [];
  readonly #tables: OpenTable[] = [];
  readonly #fields: OpenField[] = [];
  /** Open choices, and whether the form for programs that know more had any text: then the other form is skipped. */
  readonly #choices: { hasText: boolean }[] = [];
  /** Lists for the items of text boxes, which go behind the paragraph around them. */
  readonly #boxes: { readonly items: BodyItem[]; readonly tables: number }[] = [];
  #run: RunFormat = {};
  #formBox: boolean | undefined;
  /** Depth inside an element that is not read. */
  #unread = 0;
  #isText = false;
  #inParagraphProperties = false;

  constructor(context: BodyContext) {
    this.#context = context;
  }

  open(name: string, attributes: Attributes): void {
    if (this.#unread > 0 || this.#isUnread(name) || (name === 'sdtContent' && this.#sayCheckBox())) {
      this.#unread += 1;
      return;
    }
    this.#isText = name === 't';
    if (this.#openStructure(name, attributes) || this.#openTablePart(name, attributes)) return;
    if (this.#paragraphs.length > 0 && !this.#openParagraphPart(name, attributes)) this.#openRunPart(name, attributes);
  }

  text(text: string): void {
    if (this.#unread === 0 && this.#isText) this.#say(text);
  }

  close(name: string): void {
    if (this.#unread > 0) {
      this.#unread -= 1;
      return;
    }
    this.#isText = false;
    if (name === 'p') this.#endParagraph();
    else if (name === 'pPr') this.#inParagraphProperties = false;
    else if (name === 'r') this.#run = {};
    else if (name === 'tcPr') this.#startCell();
    else if (name === 'tc') this.#endCell();
    else if (name === 'tbl') this.#endTable();
    else if (name === 'txbxContent') this.#endBox();
    else if (name === 'AlternateContent') this.#choices.pop();
    else if (name === 'sdt') this.#fields.pop();
    else if (name === 'fldChar') this.#endFormBox();
  }

  #isUnread(name: string): boolean {
    if (name === 'oMath' || name === 'oMathPara') this.#context.sink.warn(EQUATIONS);
    if (name === 'altChunk') this.#context.sink.warn(EMBEDDED);
    return UNREAD.has(name) || name === 'oMath' || name === 'oMathPara' || (name === 'Fallback' && this.#choices.at(-1)?.hasText === true);
  }

  #openStructure(name: string, attributes: Attributes): boolean {
    const field = this.#fields.at(-1);
    if (name === 'p') this.#startParagraph();
    else if (name === 'txbxContent') this.#boxes.push({ items: [], tables: this.#tables.length });
    else if (name === 'AlternateContent') this.#choices.push({ hasText: false });
    else if (name === 'sdt') this.#fields.push({ isPlaceholder: false, checkBox: undefined });
    else if (name === 'showingPlcHdr' && field !== undefined) field.isPlaceholder = isOn(attributes);
    else if (name === 'checkbox' && field !== undefined) field.checkBox = false;
    else if (name === 'checked' && field?.checkBox !== undefined) field.checkBox = isOn(attributes);
    else if (name === 'r') this.#run = {};
    else return false;
    return true;
  }

  #openTablePart(name: string, attributes: Attributes): boolean {
    const table = this.#tables.at(-1);
    if (name === 'tbl') this.#tables.push({ builder: new TableBuilder(), isHeaderRow: false, isShaded: false, cell: undefined });
    else if (table === undefined || this.#isInBox()) return false;
    else if (name === 'tblStyle') table.isShaded ||= this.#context.styles.get(attributes['val']).isShaded === true;
    else if (name === 'tr') {
      table.builder.startRow();
      table.isHeaderRow = false;
    } else if (name === 'tblHeader') table.isHeaderRow = isOn(attributes);
    else if (name === 'tc') table.cell = { columns: 1, continuesAbove: false, isStarted: false, isShaded: false };
    else if (name === 'gridBefore')
      for (let left = Math.min(integer(attributes['val'], 0), MOST_COLUMNS); left > 0; left -= 1)
        table.builder.startCell({ isHeader: true, columns: 1, rows: 1 });
    else if (name === 'shd' && this.#paragraphs.length === 0) (table.cell ?? table).isShaded = isShading(attributes);
    else return table.cell !== undefined && this.#openCellPart(name, attributes, table.cell);
    return true;
  }

  #openCellPart(name: string, attributes: Attributes, cell: OpenCell): boolean {
    if (name === 'gridSpan') cell.columns = integer(attributes['val'], 1);
    else if (name === 'vMerge') cell.continuesAbove = attributes['val'] !== 'restart';
    else return false;
    return true;
  }

  #openParagraphPart(name: string, attributes: Attributes): boolean {
    const { val } = attributes;
    if (name === 'pPr') this.#inParagraphProperties = true;
    else if (!this.#inParagraphProperties) return false;
    else if (name === 'pStyle')
      this.#change({ style: this.#context.styles.get(val), styleId: val, headingLevel: this.#context.styles.get(val).headingLevel });
    else if (name === 'outlineLvl') this.#change(outlineLevel(attributes));
    else if (name === 'numId') this.#change({ numId: val });
    else if (name === 'ilvl') this.#change({ level: integer(val, 0) });
    else if (name === 'shd') this.#change({ isShaded: isShading(attributes) });
    return true;
  }

  #openRunPart(name: string, attributes: Attributes): void {
    switch (name) {
      case 'rStyle':
        this.#run = { ...formatOf(this.#context.styles.get(attributes['val'])), ...this.#run };
        return;
      case 'tab':
        this.#say('\t');
        return;
      case 'br':
      case 'cr':
        this.#say('\n');
        return;
      case 'noBreakHyphen':
        this.#say('-');
        return;
      case 'sym':
        this.#say(symbol(attributes['font'], attributes['char']));
        return;
      case 'footnoteReference':
      case 'endnoteReference':
        this.#addPlainText(`[${this.#context.noteNumber(name === 'footnoteReference' ? 'footnote' : 'endnote', attributes['id'] ?? '')}]`);
        return;
      // This is a check box of an old form: `<w:checkBox><w:default/><w:checked/></w:checkBox>`.
      case 'checkBox':
        this.#formBox = false;
        return;
      case 'default':
      case 'checked':
        if (this.#formBox !== undefined) this.#formBox = isOn(attributes);
        return;
      default:
        this.#run = { ...this.#run, ...runProperty(name, attributes) };
    }
  }

  #say(text: string): void {
    const open = this.#paragraphs.at(-1);
    if (open === undefined || text === '') return;
    const format = { ...formatOf(open.style), ...this.#run };
    if (format.isHidden === true) {
      if (/\S/u.test(text)) this.#context.sink.warn(HIDDEN_TEXT_LEFT_OUT);
      return;
    }
    if (format.isWhite === true && !this.#isOnColour(format, open)) {
      if (/\S/u.test(text)) this.#context.sink.warn(WHITE_TEXT_LEFT_OUT);
      return;
    }
    if (this.#fields.some(({ isPlaceholder }) => isPlaceholder)) {
      this.#context.sink.warn(PLACEHOLDERS_LEFT_OUT);
      return;
    }
    for (const choice of this.#choices) choice.hasText = true;
    open.text.add(text, format);
  }

  /** Tells whether the run, the paragraph, a cell or table around it, or perhaps a shape or page has a colour. */
  #isOnColour(format: RunFormat, paragraph: OpenParagraph): boolean {
    return (
      format.isShaded === true ||
      paragraph.isShaded ||
      this.#context.hasBackdrop ||
      this.#boxes.length > 0 ||
      this.#tables.some((table) => table.isShaded || table.cell?.isShaded === true)
    );
  }

  /** Writes a tick in place of the sign of a check box, which may be of any font. @returns whether it is a check box */
  #sayCheckBox(): boolean {
    const isChecked = this.#fields.at(-1)?.checkBox;
    if (isChecked === undefined || this.#paragraphs.length === 0) return false;
    this.#say(tick(isChecked));
    return true;
  }

  #endFormBox(): void {
    if (this.#formBox !== undefined) this.#say(tick(this.#formBox));
    this.#formBox = undefined;
  }

  /** Adds text without the look of its run. */
  #addPlainText(text: string): void {
    const run = this.#run;
    const { isHidden = false, isWhite = false, isShaded = false } = run;
    this.#run = isHidden ? { isHidden } : { isRaised: false, isWhite, isShaded };
    this.#say(text);
    this.#run = run;
  }

  #change(change: Partial<OpenParagraph>): void {
    const open = this.#paragraphs.pop();
    if (open !== undefined) this.#paragraphs.push({ ...open, ...change });
  }

  #startParagraph(): void {
    this.#startCell();
    this.#paragraphs.push({
      text: new ParagraphText(),
      style: this.#context.styles.get(undefined),
      styleId: undefined,
      headingLevel: undefined,
      numId: undefined,
      level: undefined,
      isShaded: false,
      boxes: [],
    });
    this.#run = {};
  }

  #endParagraph(): void {
    const open = this.#paragraphs.pop();
    if (open === undefined) return;
    const text = open.text.resolve(this.#context.sink);
    const item = text.trim() === '' ? undefined : this.#itemOf(open);
    const paragraph: Paragraph = { text, headingLevel: open.headingLevel, isBold: open.text.isBold, ...(item && { item }) };
    // Tables of contents repeat the headings.
    if (!/^toc \d$/u.test(open.style.name)) this.#put(paragraph);
    for (const box of open.boxes) this.#put(box);
    this.#run = {};
  }

  #itemOf({ style, styleId, numId: own, level: ownLevel }: OpenParagraph): ListItem | undefined {
    const { numbering } = this.#context;
    const numId = own ?? style.list?.numId;
    if (numId === undefined || numId === '' || numId === '0') return undefined;
    const level = ownLevel ?? style.list?.level ?? numbering.levelOf(numId, styleId);
    return { numId, level, label: numbering.next(numId, level) };
  }

  /** Puts an item into the cell, the text box or the part that is open. */
  #put(item: BodyItem): void {
    const table = this.#isInBox() ? undefined : this.#tables.at(-1);
    if (table === undefined || item instanceof TableBuilder) this.#itemsAround().push(item);
    else table.builder.text(`${labelled(item)} `);
  }

  /** Tells whether the paragraph is in a text box, which has its own paragraphs even in a cell. */
  #isInBox(): boolean {
    const box = this.#boxes.at(-1);
    return box !== undefined && box.tables === this.#tables.length;
  }

  #itemsAround(): BodyItem[] {
    return this.#boxes.at(-1)?.items ?? this.items;
  }

  #endBox(): void {
    const box = this.#boxes.pop();
    const open = this.#paragraphs.at(-1);
    if (box !== undefined && open !== undefined) this.#change({ boxes: [...open.boxes, ...box.items] });
    else if (box !== undefined) for (const item of box.items) this.#put(item);
  }

  #startCell(): void {
    const table = this.#tables.at(-1);
    if (table?.cell === undefined || table.cell.isStarted || this.#isInBox()) return;
    const { columns, continuesAbove } = table.cell;
    table.cell.isStarted = true;
    table.builder.startCell({ isHeader: table.isHeaderRow, columns, rows: 1, continuesAbove });
  }

  #endCell(): void {
    this.#startCell();
    const table = this.#tables.at(-1);
    table?.builder.endCell();
    if (table !== undefined) table.cell = undefined;
  }

  #endTable(): void {
    const table = this.#tables.pop();
    if (table !== undefined) this.#itemsAround().push(table.builder);
  }
}

function formatOf({ isBold, isHidden, isRaised, isStruck, isWhite, isShaded }: Style): RunFormat {
  return present({ isBold, isHidden, isRaised, isStruck, isWhite, isShaded });
}
