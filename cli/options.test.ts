import { describe, expect, it } from 'vitest';

import { parseDuration, wholeNumber } from './options.ts';

describe('parseDuration', () => {
  it.each([
    ['90s', 90_000],
    ['1h30m', 5_400_000],
    ['2d', 172_800_000],
    ['1.5h', 5_400_000],
    ['500ms', 500],
  ])('%s', (text, ms) => expect(parseDuration(text)).toBe(ms));

  it.each(['', '10', 'h', '-5m', '5 m', '0s', '5min'])('refuses %j', (text) => expect(() => parseDuration(text)).toThrow('such as'));
});

it.each(['0', '-1', '1.5', 'ten', '', '366'])('is no number of days: %j', (text) =>
  expect(() => wholeNumber(1, 365)(text)).toThrow('a whole number from 1 to 365'),
);
