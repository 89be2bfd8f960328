/** Reads values with names that a person types: dynamic data and metadata of a call. */

/** @param lines `name=value`, one on each line; blank ones don't count @throws Error that names the first line without a name or `=` */
export function readNamedValues(lines: string): Readonly<Record<string, string>> {
  const entries = lines
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line) => {
      const [, name, value] = /^([^=]+?)\s*=\s*(.*)$/.exec(line) ?? [];
      if (name === undefined || value === undefined) throw new Error(`Write “${line}” as name=value.`);
      return [name, value] as const;
    });
  return Object.fromEntries(entries);
}
