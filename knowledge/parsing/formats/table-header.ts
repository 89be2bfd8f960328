/** Features of a row in the search for the header row. */
export interface CandidateRow {
  readonly cells: readonly string[];
  /** Whether a cell is text, not a number, date or truth value. By default a cell is text unless it looks like a number. */
  readonly isText?: (column: number) => boolean;
}

/** Rows looked at: titles and notes above a table are seldom more. */
const LOOK_AHEAD = 20;

/**
 * The row that names the columns: as wide as the rows below it, every cell filled with short text that differs from the others.
 * Years may name columns too (`Region, 2023, 2024`), except the first.
 *
 * @returns its index, or -1 when no row looks like one
 */
export function findHeader(rows: readonly CandidateRow[]): number {
  const head = rows.slice(0, LOOK_AHEAD);
  const widths = head.map(({ cells }) => cells.filter((cell) => cell.trim() !== '').length);
  const usual = Math.max(...widths.slice(-Math.max(1, Math.ceil(widths.length / 2))), 0);
  const widest = Math.max(...widths, 0);
  if (usual === 0) return -1;
  return head.findIndex((row, at) => {
    // A header without rows names nothing.
    if (at === rows.length - 1) return false;
    const width = widths[at] ?? 0;
    if (width < Math.min(usual, widest) * 0.6 || (width < 2 && widest > 1)) return false;
    return namesColumns(row) && (widest > 1 || differsInKind(row, rows.slice(at + 1, at + LOOK_AHEAD)));
  });
}

function namesColumns({ cells, isText = (column) => !isNumber(cells[column] ?? '') }: CandidateRow): boolean {
  const filled = cells.flatMap((cell, column) => (cell.trim() === '' ? [] : [{ cell: cell.trim(), column }]));
  const first = filled[0];
  if (first === undefined || !isText(first.column)) return false;
  return (
    filled.every(({ cell, column }) => cell.length <= 120 && (isText(column) || /^(?:19|20)\d\d$/u.test(cell))) &&
    new Set(filled.map(({ cell }) => cell.toLowerCase())).size === filled.length
  );
}

/** A single column is a list unless what follows is of another kind. */
function differsInKind(row: CandidateRow, below: readonly CandidateRow[]): boolean {
  const isOther = ({ cells, isText }: CandidateRow): boolean => {
    const cell = cells[0]?.trim() ?? '';
    return cell !== '' && !(isText?.(0) ?? !isNumber(cell));
  };
  return below.length > 0 && (row.cells[0]?.trim() ?? '') !== '' && below.every(isOther);
}

/** Digits with what stands around amounts; no amount is longer. */
export function isNumber(text: string): boolean {
  return text.length <= 60 && /^[\s(+-]*[$€£¥₹৳]?\s*[\d০-৯][\d০-৯.,\s]*[%)$€£¥₹৳]?$/u.test(text.trim());
}
