import type { Sink } from '../block.ts';
import { findHeader } from './table-header.ts';

export interface SheetCell {
  /** From 0. */
  readonly column: number;
  readonly shown: string;
  readonly isText: boolean;
}

export interface SheetRow {
  /** As the spreadsheet shows it. */
  readonly number: number;
  /** Those that show something, by column. */
  readonly cells: readonly SheetCell[];
}

const ROWS_PER_BLOCK = 100;
const CHARACTERS_PER_BLOCK = 48_000;
/** Cells, with those that stand empty between others. Beyond it the columns are not kept apart. */
const MOST_ALIGNED = 5_000_000;

/**
 * Puts one sheet into the sink: what stands above the header as paragraphs, then batches of rows without a gap between them, so that each
 * row's number follows from the first. Columns in which no row has anything are left out.
 */
export function addSheet(options: { readonly name: string; readonly rows: Iterable<SheetRow>; readonly sink: Sink }): void {
  const { name: sheet, sink } = options;
  const rows = [...options.rows];
  const columns = [...new Set(rows.flatMap((row) => row.cells.map((cell) => cell.column)))].sort((one, other) => one - other);
  const isAligned = columns.length * rows.length <= MOST_ALIGNED;
  const places = new Map(columns.map((column, at) => [column, at]));
  const cellsOf = (row: SheetRow): string[] => {
    if (!isAligned) return row.cells.map((cell) => cell.shown);
    const cells: string[] = [];
    for (const cell of row.cells) {
      const place = places.get(cell.column) ?? 0;
      while (cells.length < place) cells.push('');
      cells.push(cell.shown);
    }
    return cells;
  };
  const candidates = rows.slice(0, 40).map((row) => {
    const text = new Set(row.cells.filter((cell) => cell.isText).map((cell) => places.get(cell.column) ?? 0));
    return { cells: cellsOf(row), isText: (column: number) => text.has(column) };
  });
  const at = isAligned ? findHeader(candidates) : -1;
  const header = at < 0 ? [] : (candidates[at]?.cells ?? []);
  for (const row of rows.slice(0, Math.max(0, at))) {
    const text = row.cells.map((cell) => cell.shown).join(' ');
    sink.add({ kind: 'paragraph', text, sheet, headingPath: [] });
  }
  let batch: string[][] = [];
  let first = 0;
  let characters = 0;
  const flush = (): void => {
    if (batch.length > 0) sink.add({ kind: 'table', header, rows: batch, firstRow: first, sheet, headingPath: [] });
    batch = [];
    characters = 0;
  };
  for (const row of rows.slice(at + 1)) {
    if (row.number !== first + batch.length || batch.length >= ROWS_PER_BLOCK || characters >= CHARACTERS_PER_BLOCK) flush();
    if (batch.length === 0) first = row.number;
    batch.push(cellsOf(row));
    characters += row.cells.reduce((sum, cell) => sum + cell.shown.length, 0);
  }
  flush();
}
