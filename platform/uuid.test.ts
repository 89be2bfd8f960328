import { expect, it } from 'vitest';

import { uuidv7 } from './uuid.ts';

it('is the example of RFC 9562, appendix A.6', () => {
  const random = Buffer.from('0000000000000cc318c4dc0c0c07398f', 'hex');
  expect(uuidv7({ now: () => 0x017f22e279b0, random: () => random })).toBe('017f22e2-79b0-7cc3-98c4-dc0c0c07398f');
});

it('sorts by time and never repeats', () => {
  let now = Date.UTC(2026, 0, 1);
  const ids = Array.from({ length: 500 }, () => uuidv7({ now: () => (now += 1) }));
  expect([...ids].sort()).toEqual(ids);
  const sameMoment = Array.from({ length: 500 }, () => uuidv7({ now: () => now }));
  expect(new Set(sameMoment).size).toBe(500);
});
