import type { Block } from '../block.ts';
import { oneLine } from '../text/clean.ts';
import { headerNames, headerRows } from './table-header.ts';

interface Cell {
  readonly text: string;
  /** True if it belongs to the cell on the left, which spans columns. */
  readonly isRepeated: boolean;
}

interface Row {
  readonly cells: Cell[];
  /** True if each of its cells is marked as a header. */
  isHeader: boolean;
}

export interface CellStart {
  readonly isHeader: boolean;
  /** Number of columns that it spans; `rows` likewise. */
  readonly columns: number;
  readonly rows: number;
  /** True if it goes on with the cell above it, which is how Word writes cells that span rows. */
  readonly continuesAbove?: boolean;
}

/** Most columns that a cell may span: more would let a small file make a large one. */
export const MOST_COLUMNS = 100;
const MOST_ROWS = 1000;
const ROWS_PER_BLOCK = 100;

const EMPTY: Cell = { text: '', isRepeated: false };

/** Collects one table. A cell that spans rows or columns is repeated in each, so that every row can be read alone. */
export class TableBuilder {
  readonly #rows: Row[] = [];
  /** Cells by column that reach down from rows above, and the number of the last row that each reaches. */
  readonly #spanning = new Map<number, { readonly lastRow: number; readonly cell: Cell }>();
  #row: Row | undefined;
  #above: readonly Cell[] = [];
  #open: { readonly parts: string[]; readonly start: CellStart } | undefined;
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
    this.#above = this.#row?.cells ?? [];
    this.#row = { cells: [], isHeader: true };
    this.#rows.push(this.#row);
  }

  startCell(start: CellStart): void {
    this.endCell();
    if (this.#row === undefined) this.startRow();
    if (this.#row !== undefined && !start.isHeader && !this.#inHead) this.#row.isHeader = false;
    this.#open = { parts: [], start };
  }

  text(text: string): void {
    if (this.#inCaption) this.#caption += text;
    else this.#open?.parts.push(text);
  }

  endCell(): void {
    const open = this.#open;
    this.#open = undefined;
    if (open === undefined || this.#row === undefined) return;
    const { cells } = this.#row;
    const { columns, rows, continuesAbove } = open.start;
    this.#fillFromAbove(cells);
    const text = continuesAbove === true ? (this.#above[cells.length]?.text ?? '') : open.parts.join('');
    const reaches = Math.min(Math.max(rows, 1), MOST_ROWS);
    for (let column = 0; column < Math.min(Math.max(columns, 1), MOST_COLUMNS); column += 1) {
      const cell = { text, isRepeated: column > 0 };
      if (reaches > 1) this.#spanning.set(cells.length, { lastRow: this.#rows.length + reaches - 1, cell });
      cells.push(cell);
    }
  }

  /**
   * Yields the caption first, as a paragraph. Tables of one column are layout: their cells come as paragraphs.
   * @param resolve makes text of a cell's collected parts
   */
  *blocks(headingPath: readonly string[], resolve: (text: string) => string = (text) => text): Generator<Block> {
    this.#endRow();
    const caption = oneLine(resolve(this.#caption));
    if (caption !== '') yield { kind: 'paragraph', text: caption, headingPath };
    const rows = this.#resolvedRows((text) => oneLine(resolve(text)));
    if (rows.every(({ cells }) => shownCells(cells).filter((cell) => cell !== '').length <= 1)) {
      for (const { cells } of rows) yield { kind: 'paragraph', text: shownCells(cells).join(' '), headingPath };
      return;
    }
    // Text above the header across the whole table is its title.
    const first = Math.max(
      0,
      rows.findIndex(({ cells }) => !isTitle(cells)),
    );
    for (const { cells } of rows.slice(0, first)) yield { kind: 'paragraph', text: shownCells(cells).join(' '), headingPath };
    const length = headerLength(rows.slice(first));
    const header = headerNames(rows.slice(first, first + length).map(({ cells }) => cells.map(({ text }) => text)));
    const body = rows.slice(first + length).map(({ cells }) => shownCells(cells));
    for (let at = 0; at < body.length; at += ROWS_PER_BLOCK)
      yield { kind: 'table', header, rows: body.slice(at, at + ROWS_PER_BLOCK), firstRow: at + 1, headingPath };
  }

  /** Returns rows that show something. Each text is resolved once, however many cells repeat it. */
  #resolvedRows(resolve: (text: string) => string): readonly Row[] {
    const resolved = new Map<string, string>();
    const once = (text: string): string => {
      const known = resolved.get(text) ?? resolve(text);
      resolved.set(text, known);
      return known;
    };
    return this.#rows
      .map(({ cells, isHeader }) => ({ isHeader, cells: cells.map((cell) => ({ ...cell, text: once(cell.text) })) }))
      .filter(({ cells }) => cells.some(({ text }) => text !== ''));
  }

  /** Ends a row, which also gets the cells that reach down to the right of its own. */
  #endRow(): void {
    this.endCell();
    const cells = this.#row?.cells ?? [];
    // The row would only repeat the one above.
    if (cells.length === 0) return;
    let width = cells.length;
    for (const [column, { lastRow }] of this.#spanning) {
      if (lastRow < this.#rows.length) this.#spanning.delete(column);
      else width = Math.max(width, column + 1);
    }
    while (cells.length < width) {
      this.#fillFromAbove(cells);
      if (cells.length < width) cells.push(EMPTY);
    }
  }

  #fillFromAbove(cells: Cell[]): void {
    for (;;) {
      const above = this.#spanning.get(cells.length);
      if (above === undefined || above.lastRow < this.#rows.length) return;
      cells.push(above.cell);
    }
  }
}

function isTitle(cells: readonly Cell[]): boolean {
  return cells.length > 1 && cells.slice(1).every(({ isRepeated }) => isRepeated);
}

/** Returns a row's cells; one that spans the whole row is a title, and comes once. */
function shownCells(cells: readonly Cell[]): readonly string[] {
  return isTitle(cells) ? [cells[0]?.text ?? ''] : cells.map(({ text }) => text);
}

/** Counts the rows that are marked as headers, as long as others follow; else the rows that look like one at the top. */
function headerLength(rows: readonly Row[]): number {
  const marked = rows.findIndex(({ isHeader }) => !isHeader);
  if (marked > 0) return marked;
  const found = headerRows(
    rows.map(({ cells }) => ({ cells: cells.map(({ text }) => text), hasWide: cells.some(({ isRepeated }) => isRepeated) })),
  );
  return found?.first === 0 ? found.length : 0;
}
