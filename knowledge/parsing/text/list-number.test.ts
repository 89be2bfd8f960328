import { expect, it } from 'vitest';

import { formatListNumber } from './list-number.ts';

it.each([
  [4, 'decimal', '4'],
  [4, 'decimalZero', '04'],
  [3, 'lowerLetter', 'c'],
  [28, 'upperLetter', 'BB'],
  [4, 'lowerRoman', 'iv'],
  [1994, 'upperRoman', 'MCMXCIV'],
  [0, 'lowerRoman', '0'],
  [4_000_000, 'upperRoman', '4000000'],
  [4_000_000, 'lowerLetter', '4000000'],
] as const)('writes item %d as %s: %s', (value, format, text) => {
  expect(formatListNumber(value, format)).toBe(text);
});
