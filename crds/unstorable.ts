import type { SpecProblem } from './spec-problem.ts';

/** Problems that are shown: a person mends the first few, and the rest shows once these are gone. */
const PROBLEMS_SHOWN = 5;

/**
 * Finds the character U+0000 in a value. Kubernetes takes it, Postgres does not, and neither do the providers.
 * It goes level by level, never recursing: the value may be nested to any depth.
 */
export function unstorable(value: unknown, path: string): readonly SpecProblem[] {
  const found: SpecProblem[] = [];
  let level: readonly (readonly [path: string, value: unknown])[] = [[path, value]];
  while (level.length > 0 && found.length < PROBLEMS_SHOWN) {
    const below: [string, unknown][] = [];
    for (const [place, node] of level) {
      if (typeof node === 'string' && node.includes('\0')) found.push({ path: place, message: 'holds the character U+0000; take it out' });
      if (typeof node !== 'object' || node === null) continue;
      if (!Array.isArray(node) && Object.keys(node).some((key) => key.includes('\0'))) {
        found.push({ path: place, message: 'has a key that holds the character U+0000; take it out' });
      }
      for (const [key, child] of Object.entries(node)) below.push([Array.isArray(node) ? `${place}[${key}]` : `${place}.${key}`, child]);
    }
    level = below;
  }
  return found.slice(0, PROBLEMS_SHOWN).map(({ path: place, message }) => ({ path: place.replaceAll('\0', ''), message }));
}
