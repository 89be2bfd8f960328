/** Durations as resources have them: `500ms`, `1h30m`. */

const part = /([0-9]+(?:\.[0-9]+)?)(ms|s|m|h)/g;
const millisecondsIn = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;

/** @throws RangeError when it isn't one. */
export function millisecondsOf(text: string): number {
  const parts = [...text.matchAll(part)];
  if (parts.length === 0 || parts.map(([all]) => all).join('') !== text) throw new RangeError(`"${text}" is not a duration`);
  return parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * millisecondsIn[unit as keyof typeof millisecondsIn], 0);
}
