/** `1, 3-7, 12`, as a person writes it; the first twenty runs. */
export function pageList(pages: readonly number[]): string {
  const runs: { first: number; last: number }[] = [];
  for (const page of pages) {
    const run = runs.at(-1);
    if (run?.last === page - 1) run.last = page;
    else runs.push({ first: page, last: page });
  }
  const shown = runs.slice(0, 20).map(({ first, last }) => (first === last ? String(first) : `${first}-${last}`));
  return shown.join(', ') + (runs.length > 20 ? ` and ${runs.length - 20} more places` : '');
}
