import { describe, expect, it } from 'vitest';

import { GIVE_UP_AFTER_MS, reasonToGiveUp } from './auto-disable.ts';

const now = Date.parse('2026-11-20T12:00:00Z');
const failing = (sinceMs: number, failureSlots: number, disabledAt?: Date) => ({
  failingSince: new Date(now - sinceMs),
  failureSlots,
  disabledAt,
});

describe('giving an endpoint up', () => {
  it.each([
    ['five days in three half-days', failing(GIVE_UP_AFTER_MS, 3), true],
    ['five days in ten half-days', failing(GIVE_UP_AFTER_MS, 10), true],
    ['weeks in three half-days', failing(4 * GIVE_UP_AFTER_MS, 3), true],
    ['a millisecond short of five days', failing(GIVE_UP_AFTER_MS - 1, 10), false],
    ['five days in two half-days: one bad night', failing(GIVE_UP_AFTER_MS, 2), false],
    ['an hour', failing(3_600_000, 1), false],
    ['no failure since the last success', { failingSince: undefined, failureSlots: 0, disabledAt: undefined }, false],
    ['one that is disabled already', failing(GIVE_UP_AFTER_MS, 3, new Date(now - 1)), false],
  ])('%s', (_name, record, expected) => {
    expect(reasonToGiveUp(record, now) !== undefined).toBe(expected);
  });

  it('says since when', () => {
    expect(reasonToGiveUp(failing(GIVE_UP_AFTER_MS + 3_600_000, 4), now)).toBe(
      'nothing but failures in 5 days, since 2026-11-15T11:00:00Z',
    );
  });
});
