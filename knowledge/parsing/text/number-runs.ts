/** Writes ascending numbers like a person: `1, 3-7, 12`; the first twenty runs. */
export function numberRuns(numbers: readonly number[], write: (number: number) => string = String): string {
  const runs: { readonly first: number; last: number }[] = [];
  for (const number of numbers) {
    const run = runs.at(-1);
    if (run?.last === number - 1) run.last = number;
    else runs.push({ first: number, last: number });
  }
  const shown = runs.slice(0, 20).map(({ first, last }) => (first === last ? write(first) : `${write(first)}-${write(last)}`));
  return shown.join(', ') + (runs.length > 20 ? ` and ${runs.length - 20} more places` : '');
}
