import { describe, expect, it } from 'vitest';

import { ageOf, span } from './age.ts';

describe('span', () => {
  it.each([
    [-5_000, '0s'],
    [119_000, '119s'],
    [303_000, '5m3s'],
    [300_000, '5m'],
    [3_600_000 * 2, '120m'],
    [3_600_000 * 3 + 720_000, '3h12m'],
    [3_600_000 * 47, '47h'],
    [86_400_000 * 2 + 3_600_000 * 4, '2d4h'],
    [86_400_000 * 41, '41d'],
    [86_400_000 * 760, '2y30d'],
  ])('%d ms are %s', (ms, text) => {
    expect(span(ms)).toBe(text);
  });
});

it('is unknown for a time that is none', () => {
  expect([ageOf(undefined, 0), ageOf('soon', 0), ageOf('1970-01-01T00:00:00Z', 42_000)]).toEqual(['<unknown>', '<unknown>', '42s']);
});
