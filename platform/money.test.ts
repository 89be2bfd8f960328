import { expect, it } from 'vitest';

import { amountOf, microsIn } from './money.ts';

it.each([
  ['0', '0.00'],
  ['0.000001', '0.000001'],
  ['12.5', '12.50'],
  ['999999999.123', '999999999.123'],
])('writes %s as %s', (amount, written) => {
  expect(amountOf(microsIn(amount))).toBe(written);
});
