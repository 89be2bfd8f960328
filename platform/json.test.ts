import { expect, it } from 'vitest';

import { parseJson, sameJson } from './json.ts';

it.each([
  ['null', null],
  ['{"a":[1]}', { a: [1] }],
  ['', 'not JSON'],
  ['{"a":', 'not JSON'],
])('reads %j', (text, value) => {
  expect(parseJson(text, 'not JSON')).toEqual(value);
});

it.each([
  [{ a: 1, b: undefined }, { a: 1 }, true],
  [{ a: 1, b: 2 }, { b: 2, a: 1 }, true],
  [[1, 2], [2, 1], false],
  [[], {}, false],
  [{ a: null }, {}, false],
])('compares %j with %j', (a, b, same) => {
  expect(sameJson(a, b)).toBe(same);
  expect(sameJson(b, a)).toBe(same);
});
