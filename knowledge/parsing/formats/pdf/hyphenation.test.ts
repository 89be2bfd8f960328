import { expect, it } from 'vitest';

import { collectWords, joinLines } from './hyphenation.ts';

const WORDS = collectWords(['The check-in desk has information.', 'A nation of infor-']);

it.each([
  ['Late check-', 'in costs', 'Late check-in costs'],
  ['long-', 'term parking', 'long-term parking'],
  ['Vracht-', 'en opslagkosten', 'Vracht- en opslagkosten'],
  ['infor-', 'mation is here', 'information is here'],
  ['agree-', 'ment', 'agreement'],
  ['soft\u00ad', 'ware', 'software'],
  ['the end', 'of a line', 'the end of a line'],
  ['E-', 'Bike', 'E- Bike'],
  ['東京', '都', '東京都'],
])('joins %s and %s', (text, line, expected) => {
  expect(joinLines(text, line, WORDS)).toBe(expected);
});
