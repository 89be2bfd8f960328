import * as XLSX from '@e965/xlsx';

import type { Sink } from '../../block.ts';
import { leftOut } from '../../left-out.ts';
import { numberRuns } from '../../text/number-runs.ts';
import { isNumber } from '../table-header.ts';
import type { SheetCell, SheetRow } from './sheet-tables.ts';

export interface SheetOptions {
  readonly name: string;
  readonly sheet: XLSX.WorkSheet;
  /** Number of cells that the workbook may still have. */
  readonly budget: { cells: number };
  readonly tooManyCells: () => Error;
  readonly uses1904: boolean;
  readonly sink: Pick<Sink, 'warn'>;
}

/** Most cells that a merged one may cover: more would let a small file make a large one. */
const MOST_ROWS = 1000;
const MOST_COLUMNS = 100;
const MOST_REPEATED = 200_000;
const SHOW_THEM = 'show them to have them read';

/**
 * Returns the rows as a person sees them: merged cells in each row and column that they cover, hidden rows and columns left out with a
 * warning. Only existing cells are walked, whatever size a sheet claims.
 * @throws the error that `tooManyCells` makes
 */
export function visibleRows(options: SheetOptions): readonly SheetRow[] {
  const { name, sheet, sink } = options;
  const hiddenColumns = new Set<number>();
  const hiddenRows: number[] = [];
  const data = (sheet['!data'] ?? []) as (XLSX.CellObject | undefined)[][];
  const rows = new Map<number, SheetCell[]>();
  for (const key of Object.keys(data)) {
    const row = Number(key);
    const cells = shownCells(data[row] ?? [], options);
    if (cells.length === 0) continue;
    if (isHidden(sheet['!rows']?.[row])) hiddenRows.push(row + 1);
    else rows.set(row, cells);
  }
  repeatMerged(sheet['!merges'] ?? [], rows);
  const visible = [...rows].map(([row, cells]) => ({ row, cells: cells.filter(({ column }) => !isHiddenColumn(column)) }));
  if (hiddenColumns.size > 0) sink.warn(leftOut(`hidden columns ${columnNames(hiddenColumns)} of sheet "${name.slice(0, 60)}"`, SHOW_THEM));
  if (hiddenRows.length > 0) sink.warn(leftOut(`hidden rows ${numberRuns(hiddenRows)} of sheet "${name.slice(0, 60)}"`, SHOW_THEM));
  return withGaps(
    visible.filter(({ cells }) => cells.length > 0),
    new Set(hiddenRows),
  );

  function isHiddenColumn(column: number): boolean {
    if (!isHidden(sheet['!cols']?.[column])) return false;
    hiddenColumns.add(column);
    return true;
  }
}

function shownCells(row: readonly (XLSX.CellObject | undefined)[], { budget, tooManyCells, uses1904 }: SheetOptions): SheetCell[] {
  const cells: SheetCell[] = [];
  for (const key of Object.keys(row)) {
    const cell = row[Number(key)];
    const shown = shownValue(cell, uses1904);
    if (shown.trim() === '') continue;
    cells.push({ column: Number(key), shown, isText: cell?.t === 's' && !isNumber(shown), isRepeated: false });
  }
  budget.cells -= cells.length;
  if (budget.cells < 0) throw tooManyCells();
  return cells;
}

/** Repeats merged cells in rows and columns that have cells of their own: a merged cell alone makes none. */
function repeatMerged(merges: readonly XLSX.Range[], rows: ReadonlyMap<number, SheetCell[]>): void {
  let left = MOST_REPEATED;
  const changed = new Set<SheetCell[]>();
  const columns = new Set([...rows.values()].flatMap((cells) => cells.map(({ column }) => column)));
  for (const { s, e } of merges) {
    const cell = rows.get(s.r)?.find(({ column }) => column === s.c);
    if (cell === undefined) continue;
    for (let row = s.r; row <= Math.min(e.r, s.r + MOST_ROWS) && left > 0; row += 1) {
      const cells = rows.get(row);
      if (cells === undefined) continue;
      for (let column = s.c; column <= Math.min(e.c, s.c + MOST_COLUMNS) && left > 0; column += 1) {
        if (!columns.has(column) || cells.some((own) => own.column === column)) continue;
        cells.push({ ...cell, column, isRepeated: column > s.c });
        changed.add(cells);
        left -= 1;
      }
    }
  }
  for (const cells of changed) cells.sort((one, other) => one.column - other.column);
}

/** Adds the gaps between rows; hidden rows are no gap. */
function withGaps(
  rows: readonly { readonly row: number; readonly cells: readonly SheetCell[] }[],
  hidden: ReadonlySet<number>,
): readonly SheetRow[] {
  return rows.map(({ row, cells }, at) => {
    let above = row - 1;
    const before = rows[at - 1]?.row ?? above;
    while (above > before && hidden.has(above + 1)) above -= 1;
    return { number: row + 1, gap: above - before, cells };
  });
}

function isHidden(properties: XLSX.ColInfo | XLSX.RowInfo | undefined): boolean {
  return properties?.hidden === true || (properties !== undefined && 'width' in properties && properties.width === 0);
}

function columnNames(columns: ReadonlySet<number>): string {
  return numberRuns(
    [...columns].sort((one, other) => one - other),
    (column) => XLSX.utils.encode_col(column),
  );
}

/** Excel's own date formats. Beyond the short date, the library ignores `dateNF`, shows them as the US do, and gives no name to some. */
const COUNTRY_FORMATS: ReadonlySet<unknown> = new Set(['m/d/yy', 'm/d/yy h:mm', undefined]);
const US_DATE = /^\d{1,2}\/\d{1,2}\/\d\d( \d{1,2}:\d\d)?$/u;

/**
 * Returns the text that a cell shows, the same in every country, with all digits of whole numbers: they are EANs, phone and account
 * numbers.
 */
function shownValue(cell: XLSX.CellObject | undefined, uses1904: boolean): string {
  if (cell === undefined || cell.t === 'z') return '';
  const date = cell.t === 'n' && COUNTRY_FORMATS.has(cell.z) ? US_DATE.exec(cell.w ?? '') : null;
  if (date !== null) return formatted(cell, date[1] === undefined ? 'yyyy-mm-dd' : 'yyyy-mm-dd hh:mm', uses1904);
  if (Number.isSafeInteger(cell.v) && cell.w?.includes('E+') === true && /^general$/iu.test(String(cell.z ?? 'General')))
    return String(cell.v);
  if (cell.w !== undefined || cell.t !== 'n' || typeof cell.z !== 'string') return cell.w ?? String(cell.v ?? '');
  // The library takes a dot after a day or month (`dd.mm.yyyy`, as in German and others) for a decimal point, and gives up.
  return formatted(cell, cell.z.replace(/\.(?!0)/gu, '\\.'), uses1904);
}

function formatted(cell: XLSX.CellObject, format: string, uses1904: boolean): string {
  try {
    return String(XLSX.SSF.format(format, cell.v, { date1904: uses1904 }));
  } catch {
    return String(cell.v ?? '');
  }
}
