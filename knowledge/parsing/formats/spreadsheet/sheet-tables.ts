import type { Sink } from '../../block.ts';
import { type CandidateRow, headerNames, headerRows } from '../table-header.ts';

export interface SheetCell {
  /** Number of the column, from 0. */
  readonly column: number;
  readonly shown: string;
  /** True if the value is neither a number nor a date or truth value. */
  readonly isText: boolean;
  /** True if it belongs to the cell on the left, which spans columns. */
  readonly isRepeated: boolean;
}

export interface SheetRow {
  /** The spreadsheet's own number of the row. */
  readonly number: number;
  /** Number of empty rows above it. */
  readonly gap: number;
  /** Cells that show something, by column. */
  readonly cells: readonly SheetCell[];
}

/** Rows under the same names of columns, or a line that belongs to no table. */
type Part = { readonly line: SheetRow } | { readonly header: readonly string[]; readonly rows: SheetRow[] };

interface Column {
  texts: number;
  others: number;
}

const ROWS_PER_BLOCK = 100;
const CHARACTERS_PER_BLOCK = 48_000;
/** Most cells, with the empty ones between others. Beyond it the columns are not kept apart. */
const MOST_ALIGNED = 5_000_000;
/** Rows of a table in which its header is looked for. */
const LOOK_AHEAD = 40;
/** So many empty rows end a table, if what follows looks like the beginning of another one. */
const WIDE_GAP = 2;

/**
 * Puts one sheet into the sink: titles and notes as paragraphs, and each table as batches of rows without a gap between them, so that each
 * row's number follows from the first. Columns that are empty in all rows are left out.
 */
export function addSheet(options: { readonly name: string; readonly rows: Iterable<SheetRow>; readonly sink: Sink }): void {
  const { name: sheet, sink } = options;
  const rows = [...options.rows];
  const columns = [...new Set(rows.flatMap((row) => row.cells.map((cell) => cell.column)))].sort((one, other) => one - other);
  const isAligned = columns.length * rows.length <= MOST_ALIGNED;
  const places = new Map(columns.map((column, at) => [column, at]));
  const cellsOf = (row: SheetRow): string[] => (isAligned ? alignedCells(row, places) : row.cells.map(({ shown }) => shown));
  const parts = isAligned ? tablesOf(rows, places) : [{ header: [], rows }];
  for (const part of parts) {
    if ('line' in part) sink.add({ kind: 'paragraph', text: rowText(part.line), sheet, headingPath: [] });
    else
      for (const batch of batches(part.rows)) {
        const firstRow = batch[0]?.number ?? 1;
        sink.add({ kind: 'table', header: part.header, rows: batch.map(cellsOf), firstRow, sheet, headingPath: [] });
      }
  }
}

function alignedCells(row: SheetRow, places: ReadonlyMap<number, number>): string[] {
  const cells: string[] = [];
  for (const cell of row.cells) {
    const place = places.get(cell.column) ?? 0;
    while (cells.length < place) cells.push('');
    cells.push(cell.shown);
  }
  return cells;
}

/** Writes a row as a line; a cell that spans columns comes once. */
function rowText(row: SheetRow): string {
  return row.cells.flatMap(({ shown, isRepeated }) => (isRepeated ? [] : [shown])).join(' ');
}

/**
 * Finds tables that stand below one another, between empty rows. Rows behind a gap go on with the table above if they look like its rows.
 */
export function tablesOf(rows: readonly SheetRow[], places: ReadonlyMap<number, number>): readonly Part[] {
  const parts: Part[] = [];
  let table: OpenTable | undefined;
  for (const section of sections(rows)) {
    const titles = places.size > 1 ? section.findIndex((row) => !isTitle(row)) : 0;
    const body = section.slice(titles < 0 ? section.length : titles);
    parts.push(...section.slice(0, section.length - body.length).map((line) => ({ line })));
    const [first] = body;
    if (first === undefined) continue;
    const found = headerRows(body.slice(0, LOOK_AHEAD).map((row) => candidate(row, places)));
    const goesOn = table?.hasLike(first) === true && (found === undefined || (section[0]?.gap ?? 0) < WIDE_GAP);
    if (table === undefined || !goesOn) {
      const header = body.slice(found?.first ?? 0, (found?.first ?? 0) + (found?.length ?? 0));
      parts.push(...body.slice(0, found?.first ?? 0).map((line) => ({ line })));
      table = new OpenTable(headerNames(header.map((row) => alignedCells(row, places))));
      parts.push({ header: table.header, rows: table.rows });
      for (const row of body.slice((found?.first ?? 0) + header.length)) table.add(row);
    } else {
      if (section.length > body.length) table = table.continued(parts);
      for (const row of body) table.add(row);
    }
  }
  return parts.filter((part) => 'line' in part || part.rows.length > 0 || part.header.length > 0);
}

class OpenTable {
  readonly header: readonly string[];
  readonly rows: SheetRow[] = [];
  readonly #columns: Map<number, Column>;

  constructor(header: readonly string[], columns = new Map<number, Column>()) {
    this.header = header;
    this.#columns = columns;
  }

  /** Returns the same table behind the lines that interrupt it. */
  continued(parts: Part[]): OpenTable {
    const table = new OpenTable(this.header, this.#columns);
    parts.push({ header: table.header, rows: table.rows });
    return table;
  }

  add(row: SheetRow): void {
    this.rows.push(row);
    for (const { column, isText } of row.cells) {
      const counts = this.#columns.get(column) ?? { texts: 0, others: 0 };
      counts[isText ? 'texts' : 'others'] += 1;
      this.#columns.set(column, counts);
    }
  }

  /** Tells whether all cells of the row are in columns of the table that have values of the same kind. */
  hasLike(row: SheetRow): boolean {
    return row.cells.every(({ column, isText }) => {
      const counts = this.#columns.get(column);
      return counts !== undefined && (isText ? counts.texts : counts.others) > 0;
    });
  }
}

function* sections(rows: readonly SheetRow[]): Generator<readonly SheetRow[]> {
  let from = 0;
  for (let at = 1; at <= rows.length; at += 1) {
    if (at < rows.length && rows[at]?.gap === 0) continue;
    yield rows.slice(from, at);
    from = at;
  }
}

function isTitle(row: SheetRow): boolean {
  return row.cells[0]?.isText === true && row.cells.slice(1).every(({ isRepeated }) => isRepeated);
}

function candidate(row: SheetRow, places: ReadonlyMap<number, number>): CandidateRow {
  const texts = new Set(row.cells.filter(({ isText }) => isText).map(({ column }) => places.get(column) ?? 0));
  return {
    cells: alignedCells(row, places),
    isText: (column) => texts.has(column),
    hasWide: row.cells.some(({ isRepeated }) => isRepeated),
  };
}

function* batches(rows: readonly SheetRow[]): Generator<readonly SheetRow[]> {
  let batch: SheetRow[] = [];
  let characters = 0;
  for (const row of rows) {
    const follows = row.number === (batch.at(-1)?.number ?? 0) + 1;
    if (batch.length > 0 && (!follows || batch.length >= ROWS_PER_BLOCK || characters >= CHARACTERS_PER_BLOCK)) {
      yield batch;
      batch = [];
      characters = 0;
    }
    batch.push(row);
    characters += row.cells.reduce((sum, { shown }) => sum + shown.length, 0);
  }
  if (batch.length > 0) yield batch;
}
