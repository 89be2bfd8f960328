/** Formats text as Markdown code; a pipe would end the cell of a table. */
export const code = (text: string): string => `\`${text.replaceAll('|', '\\|')}\``;

/** Formats a value as one would type it: text without quotes, everything else as JSON. */
export const plain = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

const cell = (text: string): string => text.replaceAll('\n', ' ');

/** Formats a table, ending in a line break. Columns are padded, so that the source is readable too. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows].map((row) => `| ${row.map(cell).join(' | ')} |`);
  return `${lines.join('\n')}\n`;
}
