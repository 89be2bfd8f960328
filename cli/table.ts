/** Aligned columns, as kubectl prints them. An empty table is just its header. */

const GAP = '   ';
/** Least width of a column that is cut, in characters: a name has to be recognised. */
const LEAST = 8;

/**
 * @param options.wide true to cut nothing
 * @param options.width width in characters; that of the terminal by default, and none in pipes: scripts read the whole text
 */
export function table(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  { wide = false, width = wide ? Infinity : terminalWidth() }: { readonly wide?: boolean; readonly width?: number } = {},
): string {
  const lines = [header, ...rows];
  const widths = fitted(
    header.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0))),
    width,
  );
  const cellOf = (cell: string, column: number): string => cut(cell, widths[column] ?? 0).padEnd(widths[column] ?? 0);
  return lines.map((line) => `${line.map(cellOf).join(GAP).trimEnd()}\n`).join('');
}

/** Leaves room for an indentation. */
function terminalWidth(): number {
  const { isTTY, columns } = process.stdout;
  return isTTY && columns > 0 ? columns - 2 : Infinity;
}

/** Narrows the widest column, again and again; never the first one, whose ids and names are what one goes on with. */
function fitted(widths: readonly number[], most: number): readonly number[] {
  const fits = [...widths];
  const total = (): number => fits.reduce((sum, each) => sum + each, GAP.length * (fits.length - 1));
  while (total() > most) {
    const widest = Math.max(...fits.slice(1));
    if (widest <= LEAST) break;
    fits[fits.lastIndexOf(widest)] = widest - 1;
  }
  return fits;
}

const cut = (cell: string, width: number): string => (cell.length > width ? `${cell.slice(0, width - 1)}…` : cell);

/** Moves every line that has text two columns to the right. */
export function indent(text: string): string {
  return text.replace(/^(?=.)/gm, '  ');
}
