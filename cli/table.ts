/** Aligned columns, as kubectl prints them. An empty table is just its header. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [header, ...rows];
  const widths = header.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map(
      (line) =>
        `${line
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join('   ')
          .trimEnd()}\n`,
    )
    .join('');
}

/** Every line that has text, two columns to the right. */
export function indent(text: string): string {
  return text.replace(/^(?=.)/gm, '  ');
}
