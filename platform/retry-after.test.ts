import fc from 'fast-check';
import { expect, it } from 'vitest';

import { retryAfterMs } from './retry-after.ts';

const now = Date.parse('1994-11-06T08:49:30.250Z');

it.each([
  ['0', 0],
  ['7', 7000],
  [' 7 ', 7000],
  ['007', 7000],
  ['3600', 3_600_000],
  ['3601', 3_601_000],
  ['1.5', 1_500],
  ['Sun, 06 Nov 1994 08:49:37 GMT', 6750],
  ['Sunday, 06-Nov-94 08:49:37 GMT', 6750],
  ['Sun Nov  6 08:49:37 1994', 6750],
  ['Sun, 06 Nov 1994 08:49:29 GMT', 0],
  ['Mon, 07 Nov 1994 08:49:37 GMT', 86_406_750],
])('reads %j', (header, expected) => {
  expect(retryAfterMs(header, now)).toBe(expected);
  expect(retryAfterMs([header, '1'], now)).toBe(expected);
});

it.each([
  undefined,
  null,
  '',
  '-5',
  '1.',
  '5s',
  'soon',
  '1994-11-06T08:49:37Z',
  'Sun, 06 Nov 1994 08:49:37 +0000',
  'Sun, 99 Foo 1994 08:49:37 GMT',
  '0x10',
  '1e3',
])('does not read %j', (header) => {
  expect(retryAfterMs(header, now)).toBeUndefined();
});

it('is never negative, whatever comes', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.nat().map(String),
        fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
      ),
      (header) => {
        const ms = retryAfterMs(header, now);
        if (ms === undefined) return;
        expect(ms).toBeGreaterThanOrEqual(0);
      },
    ),
  );
});
