/** Cuts tables between rows and repeats the header that the rows need; cuts a row that is too long between cells. */
import type { TableBlock } from '../parsing/block.ts';
import type { Chunk } from './chunk.ts';
import { type Piece, splitText } from './split-text.ts';
import { type Cell, CELL_SEPARATOR, cellText, namedCells, PAIR_SEPARATOR, plainCells, rowLine, sheetLine } from './table-text.ts';
import { countTokens, countUpTo } from './tokens.ts';

export interface TablePart {
  readonly text: string;
  readonly tokens: number;
  readonly rows?: Chunk['rows'];
}

interface Splitting {
  readonly overlapTokens: number;
  readonly language: string | undefined;
}

/** A line of a table: a row, or a part of one. */
interface Line {
  readonly text: string;
  readonly row: number;
}

/** Yields the header with as many rows as fit, again and again. A header of more than a third of the room comes once, by itself. */
export function* tableParts(block: TableBlock, maxTokens: number, splitting: Splitting): Generator<TablePart> {
  const header = block.header.length === 0 ? '' : rowLine(block.header);
  const headerTokens = header === '' ? 0 : countTokens(header) + 1;
  const repeats = headerTokens <= maxTokens / 3;
  if (!repeats) yield* splitText(header, { ...splitting, maxTokens });
  else if (block.rows.length === 0 && header !== '') yield { text: header, tokens: headerTokens };
  const room = Math.max(1, repeats ? maxTokens - headerTokens : maxTokens);
  const lines = linesOf(block, room, splitting, plainCells, CELL_SEPARATOR);
  for (const { texts, rows } of packed(lines, room)) {
    const text = [...(repeats && header !== '' ? [header] : []), ...texts].join('\n');
    yield { text, tokens: countTokens(text), rows };
  }
}

export interface SheetOptions extends Splitting {
  readonly maxTokens: number;
  /** True to begin with the names of all columns. */
  readonly namesColumns: boolean;
}

/** Yields `Sheet Prices, rows 2-31`, then a line of `column: value` for each row that has any. */
export function* sheetChunks(block: TableBlock, sheet: string, options: SheetOptions): Generator<TablePart> {
  const { maxTokens } = options;
  // These numbers are the longest that rows can have.
  const labelTokens = countTokens(sheetLine(sheet, 1_048_575, 1_048_576)) + 1;
  const showsLabel = labelTokens <= maxTokens / 3;
  const room = Math.max(1, showsLabel ? maxTokens - labelTokens : maxTokens);
  let columns = options.namesColumns && block.header.length > 0 ? `Columns: ${rowLine(block.header)}` : '';
  if (columns !== '' && (block.rows.length === 0 || countTokens(columns) > room / 3)) {
    yield* splitText(columns, { ...options, maxTokens });
    columns = '';
  }
  const lines = linesOf(block, room, options, (cells) => namedCells(block.header, cells), PAIR_SEPARATOR);
  const columnTokens = columns === '' ? 0 : countTokens(columns) + 1;
  for (const { texts, rows } of packed(lines, room, columnTokens)) {
    const label = showsLabel ? [sheetLine(sheet, rows.first, rows.last)] : [];
    const text = [...label, ...(columns === '' ? [] : [columns]), ...texts].join('\n');
    columns = '';
    yield { text, tokens: countTokens(text), rows };
  }
}

/** Yields one line for each row that fits into the room; a longer row takes several, and a longer cell comes in pieces. */
function* linesOf(
  block: TableBlock,
  room: number,
  splitting: Splitting,
  cellsOf: (cells: readonly string[]) => readonly Cell[],
  separator: string,
): Generator<Line & { readonly tokens: number }> {
  for (const [index, cells] of block.rows.entries()) {
    const row = block.firstRow + index;
    const shown = cellsOf(cells);
    if (shown.every(({ value }) => value === '')) continue;
    const text = shown.map(cellText).join(separator);
    const tokens = countUpTo(text, room - 1);
    if (tokens < room) yield { text, row, tokens };
    else for (const line of splitRow(shown, room - 1, splitting, separator)) yield { ...line, row };
  }
}

function* splitRow(cells: readonly Cell[], room: number, splitting: Splitting, separator: string): Generator<Piece> {
  let line = '';
  for (const cell of cells) {
    const text = cellText(cell);
    const longer = line === '' ? text : line + separator + text;
    if (countUpTo(longer, room) <= room) {
      line = longer;
      continue;
    }
    if (line !== '') yield { text: line, tokens: countTokens(line) };
    line = '';
    if (countUpTo(text, room) <= room) line = text;
    else yield* splitCell(cell, room, splitting);
  }
  if (line !== '') yield { text: line, tokens: countTokens(line) };
}

/** Cuts a long value, with the column's name in front of each piece. */
function* splitCell({ name, value }: Cell, room: number, splitting: Splitting): Generator<Piece> {
  const nameTokens = name === '' ? 0 : countTokens(name) + 2;
  const repeats = nameTokens <= room / 3;
  for (const piece of splitText(repeats ? value : cellText({ name, value }), {
    ...splitting,
    maxTokens: repeats ? room - nameTokens : room,
  })) {
    const text = repeats ? cellText({ name, value: piece.text }) : piece.text;
    yield { text, tokens: countTokens(text) };
  }
}

function* packed(
  lines: Iterable<Line & { readonly tokens: number }>,
  room: number,
  reserved = 0,
): Generator<{ readonly texts: readonly string[]; readonly rows: { readonly first: number; readonly last: number } }> {
  let texts: string[] = [];
  let used = reserved;
  let rows = { first: 0, last: 0 };
  for (const { text, row, tokens } of lines) {
    // The line break takes one token.
    if (texts.length > 0 && used + tokens + 1 > room) {
      yield { texts, rows };
      texts = [];
      used = 0;
    }
    if (texts.length === 0) rows = { first: row, last: row };
    texts.push(text);
    used += tokens + 1;
    rows.last = row;
  }
  if (texts.length > 0) yield { texts, rows };
}
