/** Prints a progress line for people, with the time in UTC; the figures go to standard output. */
export function progress(line: string): void {
  process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`);
}
