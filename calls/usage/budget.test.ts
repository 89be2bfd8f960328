import { expect, it } from 'vitest';

import { budgetOf } from './budget.ts';

const budget = { daily: '25.5', currency: 'EUR' };
const dayAt = (now: string, timeZone?: string) => {
  const { since, until } = budgetOf({ budget, ...(timeZone !== undefined && { timeZone }) }, Date.parse(now))!;
  return [since, until].map((moment) => new Date(moment).toISOString().slice(0, 16));
};

it('is an amount in a currency', () => {
  expect(budgetOf({ budget }, 0)).toMatchObject({ amount: '25.5', micros: 25_500_000n, currency: 'EUR' });
  expect(budgetOf({}, 0)).toBeUndefined();
});

it.each(['Europe/Berln', '', '+25:00'])('is none in a time zone that does not exist: %j', (timeZone) => {
  expect(budgetOf({ budget, timeZone }, 0)).toBeUndefined();
});

it.each([
  ['2026-11-25T12:00:00Z', undefined, '2026-11-25T00:00', '2026-11-26T00:00'],
  ['2026-11-25T00:00:00Z', undefined, '2026-11-25T00:00', '2026-11-26T00:00'],
  ['2026-11-24T23:30:00Z', 'Europe/Berlin', '2026-11-24T23:00', '2026-11-25T23:00'],
  ['2026-11-25T02:00:00Z', 'America/New_York', '2026-11-24T05:00', '2026-11-25T05:00'],
  ['2026-11-25T12:00:00Z', 'Asia/Kathmandu', '2026-11-24T18:15', '2026-11-25T18:15'],
  // Clocks go back, and forward.
  ['2026-10-25T12:00:00Z', 'Europe/Berlin', '2026-10-24T22:00', '2026-10-25T23:00'],
  ['2026-03-29T12:00:00Z', 'Europe/Berlin', '2026-03-28T23:00', '2026-03-29T22:00'],
])('counts from midnight to midnight: %s in %s', (now, timeZone, since, until) => {
  expect(dayAt(now, timeZone)).toEqual([since, until]);
});
