/** Writes tables as text, both for display and for search. */
import { trim } from './graphemes.ts';

/** Longest name of a column in front of a value: long enough to tell columns apart. */
const LONGEST_NAME = 80;

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Writes `a | b | c`. */
export function rowLine(cells: readonly string[]): string {
  return cells.map(oneLine).join(CELL_SEPARATOR);
}

/** A value, and the name of its column where it is shown with it. */
export interface Cell {
  readonly name: string;
  readonly value: string;
}

/** Returns cells without their columns' names, for a table that has its header above. */
export function plainCells(cells: readonly string[]): readonly Cell[] {
  return cells.map((cell) => ({ name: '', value: oneLine(cell) }));
}

/** Returns cells that are not empty, with their columns' names, for a sheet, where a row is read far from its header. */
export function namedCells(header: readonly string[], cells: readonly string[]): readonly Cell[] {
  return cells.map((cell, column) => ({ name: shortName(header[column] ?? ''), value: oneLine(cell) })).filter(({ value }) => value !== '');
}

/** Writes `Name: Bolt M6`, or the value alone. */
export function cellText({ name, value }: Cell): string {
  return name === '' ? value : `${name}: ${value}`;
}

export const CELL_SEPARATOR = ' | ';
export const PAIR_SEPARATOR = '; ';

export function sheetLine(sheet: string, first: number, last: number): string {
  return first === last ? `Sheet ${sheet}, row ${first}` : `Sheet ${sheet}, rows ${first}-${last}`;
}

/** Shortens the name of a column to a prefix of its values. */
function shortName(name: string): string {
  const line = oneLine(name);
  if (line.length <= LONGEST_NAME) return line;
  const end = graphemes.segment(line).containing(LONGEST_NAME)?.index ?? LONGEST_NAME;
  return `${line.slice(0, end)}…`;
}

function oneLine(cell: string): string {
  return trim(cell.replaceAll(/(?<!\s)\s*\n\s*/g, ' '));
}
