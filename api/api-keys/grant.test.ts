import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { covers, permissions } from '../../store/index.ts';
import { ApiError, ValidationError } from '../http/api-error.ts';
import { expirationDaysOf, requireRevocable } from './grant.ts';

const day = 86_400_000;
const now = Date.UTC(2026, 0, 1);
const endingIn = (ms: number) => ({ expiresAt: new Date(now + ms) });

describe('the days of a new key', () => {
  it.each([
    [365 * day, undefined, 30],
    [365 * day, 365, 365],
    [7 * day, undefined, 7],
    [7 * day - 1, undefined, 7],
    [7 * day - 1, 7, 7],
    [1, undefined, 1],
  ])('with a maker that ends in %d ms and %s asked for are %d', (left, asked, days) => {
    expect(expirationDaysOf(endingIn(left), asked, now)).toBe(days);
  });

  it('are never more than the maker has, and the refusal says when that is', () => {
    let refused: unknown;
    try {
      expirationDaysOf(endingIn(day), 365, now);
    } catch (error) {
      refused = error;
    }
    expect(refused).toBeInstanceOf(ValidationError);
    expect((refused as ValidationError).issues).toMatchObject([
      { loc: ['body', 'expiration_days'], msg: expect.stringMatching(/2026-01-02T00:00:00.000Z.*1 at most/) },
    ]);
  });
});

it('a key revokes exactly those that may do no more than itself', () => {
  const some = fc.subarray([...permissions]);
  fc.assert(
    fc.property(some, some, (holder, held) => {
      const revoke = () => requireRevocable({ permissions: holder }, { permissions: held });
      if (covers(holder, held)) expect(revoke).not.toThrow();
      else expect(revoke).toThrow(ApiError);
    }),
  );
});
