import { expect, it } from 'vitest';

import { readFragment } from './fragment.ts';

it('brings a key and an agent, or nothing', () => {
  expect(readFragment('#key=pk_abc&agent=receptionist')).toEqual({ key: 'pk_abc', agent: 'receptionist' });
  expect(readFragment('')).toEqual({ key: undefined, agent: undefined });
  expect(readFragment('#key=%20')).toEqual({ key: undefined, agent: undefined });
});
