/** Finds tables in plain text, whose columns stand below one another with spaces or tabs between them. */
import { headerNames, headerRows } from './table-header.ts';

export type TextPart = { readonly text: string } | { readonly header: readonly string[]; readonly rows: readonly (readonly string[])[] };

/** Fewest rows of a table: fewer lines may be aligned by chance. */
const FEWEST_ROWS = 3;
const LONGEST_LINE = 2000;
/** Share of the lines that have something in at least two columns. */
const LEAST_FILLED = 0.7;
/** Matches lines that separate rows. */
const ONLY_RULE = /^[\s|+=_-]+$/u;

/** Returns the lines of a paragraph as text and tables, in their order. */
export function textParts(paragraph: string): readonly TextPart[] {
  const parts: TextPart[] = [];
  let text: string[] = [];
  for (const { lines, isColumnar } of runs(paragraph.split('\n'))) {
    const table = isColumnar ? tableOf(lines.filter((line) => !isRule(line))) : undefined;
    if (table === undefined) {
      text.push(...lines);
      continue;
    }
    if (text.length > 0) parts.push({ text: text.join('\n') });
    text = [];
    parts.push(table);
  }
  if (text.length > 0) parts.push({ text: text.join('\n') });
  return parts;
}

function* runs(lines: readonly string[]): Generator<{ readonly lines: readonly string[]; readonly isColumnar: boolean }> {
  let from = 0;
  for (let at = 1; at <= lines.length; at += 1) {
    const isColumnar = hasColumns(lines[from] ?? '');
    if (at < lines.length && hasColumns(lines[at] ?? '') === isColumnar) continue;
    yield { lines: lines.slice(from, at), isColumnar };
    from = at;
  }
}

function hasColumns(line: string): boolean {
  return line.length <= LONGEST_LINE && (/\S(?:[ \u00a0]{2,}|[ \u00a0]*\t\s*)\S/u.test(line) || isRule(line));
}

function isRule(line: string): boolean {
  return ONLY_RULE.test(line) && /[+=_-]{3}/u.test(line);
}

function tableOf(lines: readonly string[]): TextPart | undefined {
  if (lines.length < FEWEST_ROWS) return undefined;
  const hasTabs = lines.every((line) => line.includes('\t'));
  const rows = hasTabs ? lines.map((line) => line.split('\t').map((cell) => cell.trim())) : cutBelowNames(lines);
  const filled = rows.filter((cells) => cells.filter((cell) => cell !== '').length > 1).length;
  if (filled < rows.length * LEAST_FILLED) return undefined;
  const found = headerRows(rows.map((cells) => ({ cells })));
  const length = found?.first === 0 ? found.length : 0;
  return { header: headerNames(rows.slice(0, length)), rows: rows.slice(length) };
}

/** Cuts below the names of columns, which may reach over the columns; then there is one for each. */
function cutBelowNames(lines: readonly string[]): readonly (readonly string[])[] {
  const rows = cutAtGutters(lines);
  const names = (lines[0] ?? '').trim().split(/\s{2,}/u);
  const below = names.length > (rows[0]?.length ?? 0) ? cutAtGutters(lines.slice(1)) : rows;
  return below[0]?.length === names.length && below !== rows ? [names, ...below] : rows;
}

/** Cuts at the places where every line has two spaces or more. */
function cutAtGutters(lines: readonly string[]): readonly (readonly string[])[] {
  const expanded = lines.map((line) => line.replaceAll('\t', '        '));
  const width = Math.max(...expanded.map((line) => line.length));
  const isFilled = new Uint8Array(width);
  for (const line of expanded) for (let at = 0; at < line.length; at += 1) if (line[at] !== ' ' && line[at] !== '\u00a0') isFilled[at] = 1;
  const gutters = [...isFilled.join('').matchAll(/0{2,}/gu)].filter(({ index }) => index > 0);
  const starts = [0, ...gutters.map(({ index, 0: gutter }) => index + gutter.length)];
  return expanded.map((line) => starts.map((from, at) => line.slice(from, starts[at + 1]).trim()));
}
