import { expect, it } from 'vitest';

import { isMasked, mask, MASK, maskUrl } from './masking.ts';

it('shows that there is a value, and not which', () => {
  expect([mask('hunter2'), mask(''), mask(null), mask(undefined)]).toEqual([MASK, MASK, null, undefined]);
  expect([isMasked(MASK), isMasked('*******'), isMasked(null)]).toEqual([true, false, false]);
});

it('takes the secrets out of an address and leaves the rest readable', () => {
  expect(maskUrl('postgres://parley:canary@db.example:5432/parley')).toBe('postgres://parley:********@db.example:5432/parley');
  expect(maskUrl('postgres://parley@db.example/parley?password=canary&sslmode=canary')).not.toContain('canary');
  expect(maskUrl('postgres://db.example/parley')).toBe('postgres://db.example/parley');
  expect(maskUrl('no address: canary')).toBe(MASK);
});
