import { expect, it } from 'vitest';

import { isLegible } from './legibility.ts';

it.each([
  ['The workshop opens at nine, and Ремонт costs 40 euros', 45, 0, true],
  ['half of it', 20, 10, false],
  ['\ue001\ue002\ue003 price', 8, 0, false],
  ['ΰԔϸЇ́Ψ ϣÎgϙķ Іаbс Φрqτ ابcд рrиc', 30, 0, false],
  ['', 0, 0, true],
])('judges %j', (text, glyphs, unmapped, expected) => {
  expect(isLegible(text, { glyphs, unmapped })).toBe(expected);
});
