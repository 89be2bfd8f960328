/** Converts durations between text as typed in resources (`500ms`, `1h30m`) and REST's plain numbers. */

import { millisecondsOf } from '../../crds/duration.ts';

export const secondsOf = (text: string): number => millisecondsOf(text) / 1000;

/** Returns `previous` where it means the same, otherwise the shortest way to write the duration, to the millisecond. */
export function durationOfSeconds(seconds: number, previous?: string): string {
  return previous !== undefined && secondsOf(previous) === seconds ? previous : durationOfMilliseconds(Math.round(seconds * 1000));
}

/** Most that one number of a duration may be. */
const MOST = 99_999;

/** Returns the shortest way to write whole milliseconds. */
export function durationOfMilliseconds(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000);
  const rest = milliseconds % 1000;
  if (rest === 0 && seconds <= MOST) return `${seconds}s`;
  if (milliseconds <= MOST) return `${milliseconds}ms`;
  const parts = { h: Math.floor(seconds / 3600), m: Math.floor(seconds / 60) % 60, s: seconds % 60, ms: rest };
  return Object.entries(parts)
    .filter(([, amount]) => amount > 0)
    .map(([unit, amount]) => `${amount}${unit}`)
    .join('');
}
