import { expect, it } from 'vitest';

import { cutText, fitText } from './cut-text.ts';

it.each([
  ['', ''],
  ['abc', 'abc'],
  ['abcd', 'abc…'],
  ['a😀', 'a😀'],
  ['ab😀', 'ab\uFFFD…'],
  ['a😀b', 'a😀…'],
])('cuts "%s" to "%s"', (text, cut) => {
  expect(cutText(text, 3)).toBe(cut);
});

it('takes another mark', () => {
  expect(cutText('abcd', 3, ' …')).toBe('abc …');
});

it('makes a text fit, its ellipsis included', () => {
  expect(['abc', 'abcd', 'a😀b'].map((text) => fitText(text, 3))).toEqual(['abc', 'ab…', 'a\uFFFD…']);
});
