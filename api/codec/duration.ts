/** Durations: text as typed in resources (`500ms`, `1h30m`), plain numbers in REST. */

import { millisecondsOf } from '../../crds/duration.ts';

/** Characters of a duration in a resource. */
const LONGEST = 32;

/** A single number with one unit is converted without rounding twice, so that what was written as a number reads as that number. */
export function secondsOf(text: string): number {
  const [, amount] = /^([0-9]+(?:\.[0-9]+)?)s$/.exec(text) ?? [];
  return amount === undefined ? millisecondsOf(text) / 1000 : Number(amount);
}

/** `previous` where it means the same, otherwise the shortest way to write it. */
export function durationOfSeconds(seconds: number, previous?: string): string {
  if (previous !== undefined && secondsOf(previous) === seconds) return previous;
  const milliseconds = Math.round(seconds * 1000);
  if (!Number.isInteger(seconds) && milliseconds < 1000 && milliseconds / 1000 === seconds) return `${milliseconds}ms`;
  return `${decimal(seconds)}s`;
}

/** The shortest way to write whole milliseconds. */
export function durationOfMilliseconds(milliseconds: number): string {
  return milliseconds % 1000 === 0 ? `${milliseconds / 1000}s` : `${milliseconds}ms`;
}

/** Without an exponent, which a duration can't have, and with as many digits as one may have. */
function decimal(value: number): string {
  const [, whole = '', fraction = '', exponent = '0'] = /^(\d+)(?:\.(\d+))?(?:e-(\d+))?$/.exec(String(value)) ?? [];
  const zeros = Number(exponent);
  if (zeros === 0) return String(value);
  return `0.${'0'.repeat(zeros - 1)}${whole}${fraction}`.slice(0, LONGEST - 1).replace(/\.?0+$/, '');
}
