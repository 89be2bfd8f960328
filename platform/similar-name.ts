/** Guesses which name someone meant who wrote a name that doesn't exist. */

/** Longer names are not compared. */
const LONGEST_COMPARED = 64;

/** @returns the candidate that differs in a third of its characters at most; case and punctuation don't count */
export function similarName(name: string, candidates: readonly string[]): string | undefined {
  if (name.length > LONGEST_COMPARED) return undefined;
  const plain = (text: string): string => text.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
  const [best] = candidates
    .map((candidate) => ({ candidate, distance: editDistance(plain(name), plain(candidate)) }))
    .toSorted((a, b) => a.distance - b.distance);
  return best !== undefined && best.distance <= Math.floor(name.length / 3) ? best.candidate : undefined;
}

/** Counts the characters to insert, delete or replace (Levenshtein). */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1)
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)));
    row = next;
  }
  return row[b.length] ?? 0;
}
