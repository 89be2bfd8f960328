import { expect, it } from 'vitest';

import { Admission, refusalOf } from './admission.ts';

const full = { reported: true, taken: false, starting: false };

it('a call with a place is made', () => {
  expect(refusalOf({ ...full, taken: true })).toBeUndefined();
  expect(refusalOf({ ...full, taken: true, starting: true })).toBeUndefined();
});

it('a call is made where no voice server reports: nothing is known then', () => {
  expect(refusalOf({ ...full, reported: false })).toBeUndefined();
});

it('a call without a place is refused, for a moment or until another has ended', () => {
  expect(refusalOf({ ...full, starting: true })).toMatchObject({ seconds: 2, message: expect.stringContaining('begin now') });
  expect(refusalOf(full)).toMatchObject({ seconds: 5, message: expect.stringContaining('ended') });
});

it('an organisation at its limit takes no place from the others', async () => {
  let places = 3;
  const takePlace = () => Promise.resolve({ ...full, taken: (places -= 1) >= 0 });
  const admission = new Admission({ servers: { takePlace }, calls: { isAtLimit: async (org) => org === 'acme' }, agentName: 'parley' });
  await expect(admission.admit('acme')).rejects.toMatchObject({ code: 'concurrent_call_limit_reached' });
  expect(places).toBe(3);
  await admission.admit('globex');
  expect(places).toBe(2);
});
