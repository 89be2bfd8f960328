import type { Block } from '../block.ts';
import { oneLine } from '../text/clean.ts';
import { findHeader } from './table-header.ts';

interface Row {
  readonly cells: string[];
  /** Every cell of it says that it is a header. */
  isHeader: boolean;
}

/** Cells that one may span; more would be a way to make much of little. */
const MOST_COLUMNS = 100;
const MOST_ROWS = 1000;
const ROWS_PER_BLOCK = 100;

/** Collects one table of an HTML document. A cell that spans rows is repeated in each, so that every row can be read alone. */
export class TableBuilder {
  readonly #rows: Row[] = [];
  /** By column: what reaches down from rows above, and the number of the last row that it reaches. */
  readonly #spanning = new Map<number, { readonly lastRow: number; readonly text: string }>();
  #row: Row | undefined;
  #cell: { parts: string[]; readonly columns: number; readonly rows: number } | undefined;
  #inHead = false;
  #inCaption = false;
  #caption = '';

  startCaption(): void {
    this.#inCaption = true;
  }

  endCaption(): void {
    this.#inCaption = false;
  }

  startHead(): void {
    this.#inHead = true;
  }

  endHead(): void {
    this.#inHead = false;
  }

  startRow(): void {
    this.#endRow();
    this.#row = { cells: [], isHeader: true };
    this.#rows.push(this.#row);
  }

  startCell(isHeader: boolean, attributes: Readonly<Record<string, string>>): void {
    this.endCell();
    if (this.#row === undefined) this.startRow();
    if (this.#row !== undefined && !isHeader && !this.#inHead) this.#row.isHeader = false;
    this.#cell = { parts: [], columns: span(attributes['colspan'], MOST_COLUMNS), rows: span(attributes['rowspan'], MOST_ROWS) };
  }

  text(text: string): void {
    if (this.#inCaption) this.#caption += text;
    else this.#cell?.parts.push(text);
  }

  endCell(): void {
    const cell = this.#cell;
    this.#cell = undefined;
    if (cell === undefined || this.#row === undefined) return;
    const { cells } = this.#row;
    this.#fillFromAbove(cells);
    const text = oneLine(cell.parts.join(''));
    for (let column = 0; column < cell.columns; column += 1) {
      const shown = column === 0 ? text : '';
      if (cell.rows > 1) this.#spanning.set(cells.length, { lastRow: this.#rows.length + cell.rows - 1, text: shown });
      cells.push(shown);
    }
  }

  /** The caption first, as a paragraph. Tables of one column are layout: their cells come as paragraphs. */
  *blocks(headingPath: readonly string[]): Generator<Block> {
    this.#endRow();
    const caption = oneLine(this.#caption);
    if (caption !== '') yield { kind: 'paragraph', text: caption, headingPath };
    const rows = this.#rows.filter(({ cells }) => cells.some((cell) => cell !== ''));
    if (rows.every(({ cells }) => cells.filter((cell) => cell !== '').length <= 1)) {
      for (const { cells } of rows) yield { kind: 'paragraph', text: cells.join(' '), headingPath };
      return;
    }
    const marked = rows.length > 1 && rows[0]?.isHeader === true;
    const at = marked ? 0 : findHeader(rows) === 0 ? 0 : -1;
    const header = at === 0 ? (rows[0]?.cells ?? []) : [];
    const body = rows.slice(at + 1).map(({ cells }) => cells);
    for (let first = 0; first < body.length; first += ROWS_PER_BLOCK)
      yield { kind: 'table', header, rows: body.slice(first, first + ROWS_PER_BLOCK), firstRow: first + 1, headingPath };
  }

  /** What reaches down to the right of a row's own cells belongs to it, too. */
  #endRow(): void {
    this.endCell();
    const cells = this.#row?.cells ?? [];
    // It would only repeat the row above.
    if (cells.length === 0) return;
    let width = cells.length;
    for (const [column, { lastRow }] of this.#spanning) {
      if (lastRow < this.#rows.length) this.#spanning.delete(column);
      else width = Math.max(width, column + 1);
    }
    while (cells.length < width) {
      this.#fillFromAbove(cells);
      if (cells.length < width) cells.push('');
    }
  }

  #fillFromAbove(cells: string[]): void {
    for (;;) {
      const above = this.#spanning.get(cells.length);
      if (above === undefined || above.lastRow < this.#rows.length) return;
      cells.push(above.text);
    }
  }
}

function span(value: string | undefined, most: number): number {
  const number = Number.parseInt(value ?? '1', 10);
  return Number.isFinite(number) ? Math.min(Math.max(number, 1), most) : 1;
}
