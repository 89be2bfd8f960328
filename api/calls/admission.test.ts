import { expect, it } from 'vitest';

import { refusalOf } from './admission.ts';

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
