import { InvalidArgumentError } from 'commander';

import { millisecondsIn, millisecondsOf } from '../../crds/duration.ts';

const units = { ...millisecondsIn, d: 86_400_000 };

/**
 * `90s`, `10m`, `1h30m`, `2d` → milliseconds; as kubectl takes them, and days besides.
 *
 * @throws InvalidArgumentError for anything else
 */
export function parseDuration(text: string): number {
  try {
    const total = millisecondsOf(text, units);
    if (total > 0) return total;
  } catch {
    // Told below, as it has to be written.
  }
  throw new InvalidArgumentError('write a time such as 90s, 10m, 1h30m or 2d.');
}

/** @throws InvalidArgumentError for anything but a whole number from 1 on */
export function parseCount(text: string): number {
  const count = Number(text);
  if (/^\d{1,9}$/.test(text) && count > 0) return count;
  throw new InvalidArgumentError('a whole number from 1 on is needed.');
}
