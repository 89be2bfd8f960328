import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { isDate, momentOf, wallTime } from './local-time.ts';

const iso = (text: string, zone: string) => {
  const moment = momentOf(text, zone);
  return moment === undefined ? undefined : new Date(moment).toISOString();
};

describe('momentOf', () => {
  it.each([
    ['2026-11-24T09:00', 'Europe/Berlin', '2026-11-24T08:00:00.000Z'],
    ['2026-07-24 09:00:30', 'Europe/Berlin', '2026-07-24T07:00:30.000Z'],
    ['2026-11-24T09:00', 'America/Los_Angeles', '2026-11-24T17:00:00.000Z'],
    ['2026-11-24T09:00', 'Asia/Kathmandu', '2026-11-24T03:15:00.000Z'],
    ['2026-11-24T09:00:00Z', 'Europe/Berlin', '2026-11-24T09:00:00.000Z'],
    ['2026-11-24T09:00:00.000+05:30', 'Europe/Berlin', '2026-11-24T03:30:00.000Z'],
    // The time 02:30 comes twice that night, and not at all the other one.
    ['2026-10-25T02:30', 'Europe/Berlin', '2026-10-25T00:30:00.000Z'],
    ['2026-03-29T02:30', 'Europe/Berlin', '2026-03-29T01:30:00.000Z'],
    ['2026-02-30T09:00', 'UTC', undefined],
    ['2026-11-24T24:30', 'UTC', undefined],
    ['tomorrow', 'UTC', undefined],
    ['2026-11-24', 'UTC', undefined],
  ])('%s in %s is %s', (text, zone, moment) => {
    expect(iso(text, zone)).toBe(moment);
  });

  it('is what wallTime says, back again', () => {
    const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe', 'Pacific/Apia'];
    fc.assert(
      fc.property(fc.integer({ min: Date.UTC(2020), max: Date.UTC(2040) }), fc.constantFrom(...zones), (ms, zone) => {
        const wall = wallTime(Math.floor(ms / 1000) * 1000, zone);
        expect(wallTime(momentOf(wall, zone) ?? 0, zone)).toBe(wall);
      }),
    );
  });
});

describe('isDate', () => {
  it.each([
    ['2026-11-24', true],
    ['2026-02-29', false],
    ['2024-02-29', true],
    ['24.11.2026', false],
    ['2026-11-24T09:00', false],
  ])('%s: %s', (text, is) => {
    expect(isDate(text)).toBe(is);
  });
});
