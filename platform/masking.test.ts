import { expect, it } from 'vitest';

import { MASK, maskUrl } from './masking.ts';

it('takes the secrets out of an address and leaves the rest readable', () => {
  expect(maskUrl('postgres://parley:canary@db.example:5432/parley')).toBe('postgres://parley:********@db.example:5432/parley');
  expect(maskUrl('postgres://parley@db.example/parley?password=canary&sslmode=canary')).not.toContain('canary');
  expect(maskUrl('postgres://db.example/parley')).toBe('postgres://db.example/parley');
  expect(maskUrl('no address: canary')).toBe(MASK);
});
