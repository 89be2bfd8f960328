import { expect, it } from 'vitest';

import { Admission, refusalOf } from './admission.ts';

const full = { reported: true, taken: false, starting: false, reserved: false };

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

it('a call is refused with the reason where the last places are kept for others', () => {
  expect(refusalOf({ ...full, reserved: true })).toMatchObject({
    message: expect.stringContaining('kept for organisations with fewer calls'),
  });
});

it('an organisation at its limit takes no place from the others', async () => {
  let places = 3;
  const takePlace = () => Promise.resolve({ ...full, taken: (places -= 1) >= 0 });
  const calls = {
    isAtLimit: async (org: string) => org === 'acme',
    unjoinedLimit: async ({ org }: { readonly org: string }) => (org === 'initech' ? ({ of: 'key', most: 3 } as const) : undefined),
  };
  const admission = new Admission({ servers: { takePlace }, calls, agentName: 'parley' });
  await expect(admission.admit({ org: 'acme' })).rejects.toMatchObject({ code: 'concurrent_call_limit_reached' });
  await expect(admission.admit({ org: 'initech' })).rejects.toThrow('3 web calls of this API key wait for their users');
  expect(places).toBe(3);
  await admission.admit({ org: 'globex' });
  expect(places).toBe(2);
});
