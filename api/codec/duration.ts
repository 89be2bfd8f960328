/** Converts durations between text as typed in resources (`500ms`, `1h30m`) and REST's plain numbers. */

import { millisecondsOf } from '../../crds/duration.ts';

/** Most characters of a duration in a resource. */
const LONGEST = 32;

/** Converts a single number with one unit without rounding twice, so that a duration reads as the number it was written as. */
export function secondsOf(text: string): number {
  const [, amount] = /^([0-9]+(?:\.[0-9]+)?)s$/.exec(text) ?? [];
  return amount === undefined ? millisecondsOf(text) / 1000 : Number(amount);
}

/** Returns `previous` where it means the same, otherwise the shortest way to write the duration. */
export function durationOfSeconds(seconds: number, previous?: string): string {
  if (previous !== undefined && secondsOf(previous) === seconds) return previous;
  const milliseconds = Math.round(seconds * 1000);
  if (!Number.isInteger(seconds) && milliseconds < 1000 && milliseconds / 1000 === seconds) return `${milliseconds}ms`;
  return `${decimal(seconds)}s`;
}

/** Returns the shortest way to write whole milliseconds. */
export function durationOfMilliseconds(milliseconds: number): string {
  return milliseconds % 1000 === 0 ? `${milliseconds / 1000}s` : `${milliseconds}ms`;
}

/** Writes a number without an exponent, which a duration can't have, and with as many digits as a duration may have. */
function decimal(value: number): string {
  const [, whole = '', fraction = '', exponent = '0'] = /^(\d+)(?:\.(\d+))?(?:e-(\d+))?$/.exec(String(value)) ?? [];
  const zeros = Number(exponent);
  if (zeros === 0) return String(value);
  return `0.${'0'.repeat(zeros - 1)}${whole}${fraction}`.slice(0, LONGEST - 1).replace(/\.?0+$/, '');
}
