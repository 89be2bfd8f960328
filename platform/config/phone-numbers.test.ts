import { describe, expect, it } from 'vitest';

import { loadConfig } from './config.ts';
import { NumberPool } from './phone-numbers.ts';

describe('the pool of numbers', () => {
  it('has every number where nothing is said', () => {
    expect(new NumberPool(loadConfig({}).PARLEY_NATIVE_NUMBERS).has('+15550100')).toBe(true);
  });

  it('has the numbers and the beginnings that are named, and no other', () => {
    const pool = new NumberPool(loadConfig({ PARLEY_NATIVE_NUMBERS: '+15550100, +4930*,+88' }).PARLEY_NATIVE_NUMBERS);
    expect(['+15550100', '+4930', '+49305551', '+88'].map((number) => pool.has(number))).toEqual([true, true, true, true]);
    expect(['+1555010', '+155501001', '+493', '+881'].map((number) => pool.has(number))).toEqual([false, false, false, false]);
  });

  it.each(['15550100', '+0155', '+1*5', '+1 555', '+1;+2', '+1234567890123456', '*', ','])('%j is none', (text) =>
    expect(() => loadConfig({ PARLEY_NATIVE_NUMBERS: text })).toThrow(/PARLEY_NATIVE_NUMBERS: must be numbers/),
  );
});
