import { expect, it } from 'vitest';

import { cutText } from './cut-text.ts';

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
