import { expect, it } from 'vitest';

import { labelledValues } from './form-labels.ts';
import type { LinePiece } from './page-lines.ts';

const piece = (text: string, left: number, y: number): LinePiece => ({
  text,
  left,
  right: left + 6 * text.length,
  y,
  size: 11,
  isBold: false,
});

/** Returns the text of a value, with the text that is printed on its page. */
function read(names: { readonly description?: string; readonly name?: string }, ...printed: readonly LinePiece[]): readonly string[] {
  const value = { lines: [piece('89 EUR', 200, 100), piece('in summer', 200, 113)], description: '', name: '', ...names };
  return labelledValues([value], printed).map(({ text }) => text);
}

it('says what the form tells those who hear it, unless the page says the same', () => {
  expect(read({ description: 'Price per night:' })).toEqual(['Price per night: 89 EUR', 'in summer']);
  expect(read({ description: 'Price per night' }, piece('Price (per night)', 20, 700))).toEqual(['89 EUR', 'in summer']);
});

it("says the field's name where nothing is printed beside or above it", () => {
  expect(read({ name: 'guest[0].pricePerNight[0]' })[0]).toBe('price Per Night: 89 EUR');
  expect(read({ name: 'pets_allowed' }, piece('Rules', 20, 700))[0]).toBe('pets allowed: 89 EUR');
  expect(read({ name: 'fee' }, piece('Cost', 100, 101))[0]).toBe('89 EUR');
  expect(read({ name: 'fee' }, piece('Cost of the room', 190, 85))[0]).toBe('89 EUR');
});

it.each(['Text12', 'f1_01[0]', 'Check Box 3', 'topmostSubform[0].Page1[0].f2_7[0]', 'undefined_4', 'Feld 2', 'a1', ''])(
  'knows names that a program made: %s',
  (name) => expect(read({ name })[0]).toBe('89 EUR'),
);
