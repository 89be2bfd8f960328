import { headerNames, headerRows } from '../table-header.ts';
import { type Line, roundedSize } from './page-lines.ts';

/** Rows of cells that a page shows next to each other. */
export interface PageTable {
  readonly kind: 'table';
  readonly page: number;
  readonly columns: readonly Column[];
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

interface Column {
  readonly left: number;
  readonly right: number;
}

/** Least gap between two columns, as a share of the font's height; and the fewest rows of a table. */
const COLUMN_GAP = 0.4;
const LEAST_ROWS = 3;
/** Largest distance to the next row, as a share of the font's height; a page with more than `MOST_LINES` is a drawing. */
const ROW_DISTANCE = 4;
const MOST_LINES = 2000;
/** Largest distance to the next line of the same cell, as a share of the font's height. */
const WRAPPED_DISTANCE = 1.6;
/** Marks that begin a list item in paragraphs; some print a sign behind it. */
const MARK = /^(?:[•▪▫●○◦‣∙·■□–—*-]|\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})[.)])\W{0,3}$/u;

export function splitTables(lines: readonly Line[], page: number): readonly (readonly Line[] | PageTable)[] {
  if (lines.length > MOST_LINES) return [lines];
  const parts: (readonly Line[] | PageTable)[] = [];
  let prose: Line[] = [];
  for (let at = 0; at < lines.length;) {
    const grid = gridFrom(lines, at);
    if (grid === undefined || isNumberedList(grid)) {
      prose.push(...lines.slice(at, at + 1));
      at += 1;
      continue;
    }
    if (prose.length > 0) parts.push(prose);
    prose = [];
    parts.push(buildTable(grid, page));
    at += grid.lines.length;
  }
  if (prose.length > 0) parts.push(prose);
  return parts;
}

interface Grid {
  readonly lines: readonly Line[];
  readonly columns: readonly Column[];
}

/** Returns the longest run of lines from here on whose cells leave the same gaps free. */
function gridFrom(lines: readonly Line[], start: number): Grid | undefined {
  const first = lines[start];
  if (first === undefined || first.cells.length < 2) return undefined;
  let columns: readonly Column[] = [...first.cells];
  let best: Grid | undefined;
  let rows = 1;
  for (let at = start + 1; at < lines.length; at += 1) {
    const line = lines[at];
    const above = lines[at - 1];
    if (line === undefined || above === undefined || line.y - above.y > ROW_DISTANCE * line.size) break;
    const next = addCells(columns, line);
    if (next.length < 2 || next.length < Math.max(columns.length, line.cells.length)) break;
    columns = next;
    if (line.cells.length < 2) continue;
    rows += 1;
    if (rows >= (columns.length > 2 ? LEAST_ROWS - 1 : LEAST_ROWS)) best = { lines: lines.slice(start, at + 1), columns };
  }
  return best === undefined ? undefined : withLastLines(best, lines.slice(start + best.lines.length));
}

/** Adds lines below to the last row, which may have a cell that goes on: close to it, and not in the first column. */
function withLastLines({ lines, columns }: Grid, below: readonly Line[]): Grid {
  const all = [...lines];
  let wide = columns;
  for (const line of below) {
    const next = addCells(wide, line);
    const above = all.at(-1);
    if (above === undefined || line.cells.length > 1 || !isSameText(above, line) || line.y - above.y > WRAPPED_DISTANCE * line.size) break;
    if (next.length < wide.length || line.left <= (next[0]?.right ?? 0)) break;
    all.push(line);
    wide = next;
  }
  return { lines: all, columns: wide };
}

/** Larger or bold text begins something else. */
function isSameText(above: Line, line: Line): boolean {
  return roundedSize(above.size) === roundedSize(line.size) && above.isBold === line.isBold;
}

/** Tells whether the first column has only numbers, letters or bullets. */
function isNumberedList({ lines, columns: [first, ...others] }: Grid): boolean {
  if (first === undefined || others.length !== 1) return false;
  const marks = lines.flatMap(({ cells }) => cells.filter((cell) => cell.right <= first.right + 0.01).map(({ text }) => text.trim()));
  return marks.every((mark) => MARK.test(mark));
}

/** Adds the cells of one more line to the columns; columns that touch become one. */
function addCells(columns: readonly Column[], { cells, size }: Line): readonly Column[] {
  const merged: Column[] = [];
  for (const column of [...columns, ...cells].sort((one, other) => one.left - other.left)) {
    const last = merged.at(-1);
    if (last !== undefined && column.left - last.right < COLUMN_GAP * size)
      merged[merged.length - 1] = { left: last.left, right: Math.max(last.right, column.right) };
    else merged.push({ left: column.left, right: column.right });
  }
  return merged;
}

function buildTable({ lines, columns }: Grid, page: number): PageTable {
  const rows = joinWrapped(lines.map((line) => ({ line, cells: cellsOf(line, columns) })));
  const found = headerRows(rows.map((cells) => ({ cells })));
  const length = found?.first === 0 ? found.length : Number(isMarked(lines));
  return { kind: 'table', page, columns, header: headerNames(rows.slice(0, length)), rows: rows.slice(length) };
}

/** Tells whether the first line is bold, and the others aren't. */
function isMarked([first, ...others]: readonly Line[]): boolean {
  return first?.isBold === true && !others.some(({ isBold }) => isBold);
}

function cellsOf({ cells }: Line, columns: readonly Column[]): readonly string[] {
  return columns.map(({ left, right }) =>
    cells
      .filter((cell) => cell.left >= left - 0.01 && cell.right <= right + 0.01)
      .map(({ text }) => text)
      .join(' '),
  );
}

interface RowLine {
  readonly line: Line;
  readonly cells: readonly string[];
}

/** Joins the lines of a row whose cells go on on the next line: they are closer, or a cell starts in the middle of a sentence. */
function joinWrapped(lines: readonly RowLine[]): readonly (readonly string[])[] {
  const distances = lines.slice(1).map(({ line }, at) => line.y - (lines[at]?.line.y ?? 0));
  const widest = Math.max(...distances);
  const rows: string[][] = [];
  lines.forEach(({ cells }, at) => {
    const above = rows.at(-1);
    const isClose = (distances[at - 1] ?? widest) < 0.8 * widest && cells.some((cell) => cell === '');
    if (above !== undefined && (isClose || continuesRow(above, cells)))
      cells.forEach((cell, column) => (above[column] = [above[column] ?? '', cell].filter((part) => part !== '').join(' ')));
    else rows.push([...cells]);
  });
  return rows;
}

function continuesRow(above: readonly string[], cells: readonly string[]): boolean {
  const shared = cells.filter((cell, column) => cell !== '' && above[column] !== '');
  return shared.length === 1 && /^\p{Ll}/u.test(shared[0] ?? '') && shared[0] === cells.find((cell) => cell !== '');
}

/** Gives a table that goes on on the next page the names of its columns; a header that is repeated there is no row. */
export function continueTable(before: PageTable, table: PageTable): PageTable {
  if (before.header.length === 0 || table.columns.length !== before.columns.length) return table;
  const isSame = table.columns.every(({ left, right }, at) => {
    const column = before.columns[at] ?? { left: 0, right: 0 };
    return left < column.right && right > column.left;
  });
  const isRepeated = table.header.length > 0 && table.header.every((name, at) => name === before.header[at]);
  if (!isSame || isRepeated) return table;
  return { ...table, header: before.header, rows: table.header.length > 0 ? [table.header, ...table.rows] : table.rows };
}
