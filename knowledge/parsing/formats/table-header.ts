/** Features of a row in the search for the rows that name the columns. */
export interface CandidateRow {
  readonly cells: readonly string[];
  /** Tells whether a cell is text, not a number, date or truth value. By default a cell is text unless it looks like a number. */
  readonly isText?: (column: number) => boolean;
  /** True if one of its cells spans columns. */
  readonly hasWide?: boolean;
}

/** Rows from `first` on name the columns of the rows below them. */
export interface HeaderRows {
  readonly first: number;
  readonly length: number;
}

/** Rows that are looked at: titles and notes above a table are seldom more. */
const LOOK_AHEAD = 20;
const MOST_HEADER_ROWS = 3;
const LONGEST_NAME = 120;
/** Most characters of a label above text; labels above numbers may be longer. */
const LONGEST_LABEL = 40;
const MOST_LABEL_WORDS = 5;

/**
 * Finds the rows that name the columns: as wide as the rows below them, filled with short texts that differ from one another and from the
 * values below. Years may name columns too (`Region, 2023, 2024`), except the first. A row with cells that span columns takes the next one
 * with it. Wrong names do more harm than none: a list of questions with answers, or of names with values, has no header.
 */
export function headerRows(rows: readonly CandidateRow[]): HeaderRows | undefined {
  const head = rows.slice(0, 2 * LOOK_AHEAD);
  const widths = head.slice(0, LOOK_AHEAD).map(({ cells }) => cells.filter((cell) => cell.trim() !== '').length);
  const usual = Math.max(...widths.slice(-Math.max(1, Math.ceil(widths.length / 2))), 0);
  const widest = Math.max(...widths, 0);
  const first = widths.findIndex((width) => width >= Math.min(usual, widest) * 0.6 && (width >= 2 || widest === 1));
  if (first < 0) return undefined;
  for (let length = 1; length <= MOST_HEADER_ROWS && first + length < rows.length; length += 1) {
    const upper = head.slice(first, first + length);
    if (length > 1 && !spans(upper[0])) return undefined;
    if (namesColumns(upper, head.slice(first + length))) return { first, length };
  }
  return undefined;
}

/** Returns one name for each column: the texts of a header's rows above it, each once (`2024 Q1`). */
export function headerNames(rows: readonly (readonly string[])[]): readonly string[] {
  const width = Math.max(...rows.map((cells) => cells.length), 0);
  return Array.from({ length: width }, (_, column) => {
    const names = rows.map((cells, at) => (at < rows.length - 1 ? reachingName(cells, column) : (cells[column] ?? '').trim()));
    return [...new Set(names)].filter((name) => name !== '').join(' ');
  });
}

/** Returns the name above a column in a header's upper row. Where the cells are not merged, a name reaches up to the next one. */
function reachingName(cells: readonly string[], column: number): string {
  for (let at = Math.min(column, cells.length - 1); at > 0; at -= 1) if (cells[at]?.trim() !== '') return cells[at]?.trim() ?? '';
  return column === 0 ? (cells[0]?.trim() ?? '') : '';
}

function spans(row: CandidateRow | undefined): boolean {
  return row !== undefined && (row.hasWide === true || row.cells.slice(1).some((cell) => cell.trim() === ''));
}

function namesColumns(upper: readonly CandidateRow[], below: readonly CandidateRow[]): boolean {
  const names = headerNames(upper.map(({ cells }) => cells));
  const filled = names.flatMap((name, column) => (name === '' ? [] : [{ name, column }]));
  const [first] = filled;
  if (first === undefined || below.length === 0 || !upper.every((row) => isTextAt(row, first.column))) return false;
  if (
    !filled.every(({ name, column }) => name.length <= LONGEST_NAME && upper.every((row) => isTextAt(row, column) || isYear(row, column)))
  )
    return false;
  if (new Set(filled.map(({ name }) => name.toLowerCase())).size < filled.length) return false;
  const columns = filled.map(({ column }) => column);
  if (filled.length === 1) return below.every((row) => isFilled(row, first.column) && !isTextAt(row, first.column));
  if (columns.some((column) => share(below, column, (row) => !isTextAt(row, column)) > 0.5)) return true;
  return filled.every(({ name }) => isLabel(name)) && (filled.length > 2 || isAboveText(below, columns));
}

/** Two columns of text are a table where one has sentences, or where each has values of one kind; else they are names with values. */
function isAboveText(below: readonly CandidateRow[], columns: readonly number[]): boolean {
  const isSentence = (row: CandidateRow, column: number): boolean =>
    /[.?!。？！।؟]$/u.test(textAt(row, column)) || textAt(row, column).length > 60;
  if (columns.some((column) => share(below, column, (row) => isSentence(row, column)) > 0.5)) return true;
  return (
    below.length > 2 &&
    columns.every((column) => {
      const digits = share(below, column, (row) => /\p{Nd}/u.test(textAt(row, column)));
      return digits <= 0.1 || digits >= 0.9;
    })
  );
}

/** Returns the share of a column's filled rows for which `has` is true. */
function share(rows: readonly CandidateRow[], column: number, has: (row: CandidateRow) => boolean): number {
  const filled = rows.filter((row) => isFilled(row, column));
  return filled.length === 0 ? 0 : filled.filter(has).length / filled.length;
}

function isLabel(name: string): boolean {
  return name.length <= LONGEST_LABEL && name.split(/\s+/u).length <= MOST_LABEL_WORDS && !/\p{Nd}|[.?!:。？！।؟：]$/u.test(name);
}

function textAt(row: CandidateRow, column: number): string {
  return row.cells[column]?.trim() ?? '';
}

function isFilled(row: CandidateRow, column: number): boolean {
  return textAt(row, column) !== '';
}

/** Tells whether a cell is text; an empty one is, too. */
function isTextAt(row: CandidateRow, column: number): boolean {
  return !isFilled(row, column) || (row.isText?.(column) ?? !isNumber(textAt(row, column)));
}

function isYear(row: CandidateRow, column: number): boolean {
  return /^(?:19|20)\d\d$/u.test(textAt(row, column));
}

/** Matches digits with the signs of amounts; no amount is longer. */
export function isNumber(text: string): boolean {
  return text.length <= 60 && /^[\s(+-]*[$€£¥₹৳]?\s*[\d০-৯][\d০-৯.,\s]*[%)$€£¥₹৳]?$/u.test(text.trim());
}
