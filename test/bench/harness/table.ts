/** Formats figures for people, and tables as Markdown. */

export interface Table {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Says what a reader must know to read it rightly; one line each. */
  readonly notes?: readonly string[];
}

/** Formats a Markdown section: heading, table (first column left, figures right), notes as a list. Columns are padded for a terminal. */
export function renderTable(table: Table): string {
  const cells = [table.columns, ...table.rows].map((row) => table.columns.map((_, column) => (row[column] ?? '').replaceAll('|', '\\|')));
  const widths = table.columns.map((_, column) => Math.max(3, ...cells.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join(' | ')} |`;
  const rule = `| ${widths.map((width, column) => (column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`;
  const [header = [], ...body] = cells;
  const notes = table.notes ?? [];
  return [
    `### ${table.title}`,
    '',
    line(header),
    rule,
    ...body.map(line),
    ...(notes.length === 0 ? [] : ['', ...notes.map((note) => `- ${note}`)]),
    '',
  ].join('\n');
}

const exact = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const fine = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 3 });

/** Formats three significant digits, whole from 100 up: `0.512`, `3.5`, `1,234`. A dash stands for what was not measured. */
export function figure(value: number | undefined, unit = ''): string {
  if (value === undefined || Number.isNaN(value)) return '–';
  const digits = Math.abs(value) >= 100 ? exact.format(value) : fine.format(value);
  return unit === '' ? digits : `${digits} ${unit}`;
}

/** Formats milliseconds, in seconds from 10 s up. */
export function duration(ms: number | undefined): string {
  return ms !== undefined && ms >= 10_000 ? figure(ms / 1000, 's') : figure(ms, 'ms');
}

/** Formats bytes in MB of 10^6. */
export function megabytes(bytes: number | undefined): string {
  return bytes === undefined ? '–' : figure(bytes / 1e6, 'MB');
}

/** Formats `2.1×`. */
export function times(ratio: number | undefined): string {
  return ratio === undefined || !Number.isFinite(ratio) ? '–' : `${figure(ratio)}×`;
}

/** Formats a share of 1 as `1.2 %`. */
export function percent(share: number | undefined): string {
  return share === undefined || Number.isNaN(share) ? '–' : `${(share * 100).toFixed(1)} %`;
}
