/** Reads durations as resources have them: `500ms`, `1h30m`. */

const PART = /([0-9]+(?:\.[0-9]+)?)(ms|[smhd])/g;
export const millisecondsIn = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;

/**
 * @param units - defaults to those of resources
 * @throws RangeError when it isn't a duration in these units.
 */
export function millisecondsOf(text: string, units: Readonly<Record<string, number>> = millisecondsIn): number {
  const parts = [...text.matchAll(PART)].map(([all, amount, unit = '']) => ({ all, ms: Number(amount) * (units[unit] ?? Number.NaN) }));
  const total = parts.reduce((sum, { ms }) => sum + ms, 0);
  if (parts.length === 0 || parts.map(({ all }) => all).join('') !== text || Number.isNaN(total))
    throw new RangeError(`"${text}" is not a duration`);
  return total;
}
