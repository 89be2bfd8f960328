import { InvalidArgumentError } from 'commander';

const units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/**
 * `90s`, `10m`, `1h30m`, `2d` → milliseconds; as kubectl takes them, and days besides.
 *
 * @throws InvalidArgumentError for anything else
 */
export function parseDuration(text: string): number {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)];
  const total = parts.reduce((sum, [, count, unit]) => sum + Number(count) * units[unit as keyof typeof units], 0);
  if (text !== '' && parts.map(([part]) => part).join('') === text && total > 0) return total;
  throw new InvalidArgumentError('write a time such as 90s, 10m, 1h30m or 2d.');
}

/** @throws InvalidArgumentError for anything but a whole number from 1 on */
export function parseCount(text: string): number {
  const count = Number(text);
  if (/^\d{1,9}$/.test(text) && count > 0) return count;
  throw new InvalidArgumentError('a whole number from 1 on is needed.');
}
