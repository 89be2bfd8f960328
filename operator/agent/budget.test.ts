import { describe, expect, it } from 'vitest';

import type { Agent } from '../../crds/index.ts';
import { planBudget } from './budget.ts';

const now = Date.parse('2026-11-25T20:00:00Z');

function anAgent({
  budget = { daily: '25.00', currency: 'EUR' },
  exceeded = false,
}: { budget?: object | undefined; exceeded?: boolean } = {}): Agent {
  const condition = { type: 'BudgetExceeded', status: 'True', reason: 'DailyBudgetSpent', message: 'spent', lastTransitionTime: '' };
  return {
    metadata: { name: 'a' },
    spec: { budget, timeZone: 'Europe/Berlin' },
    status: { conditions: exceeded ? [condition] : [] },
  } as unknown as Agent;
}

describe('the budget of an agent', () => {
  it('shows once it is spent, with an Event the first time', () => {
    const spent = { spent: 25_000_000n, pricesIn: 'EUR' };
    const first = planBudget(anAgent(), spent, now);
    expect(first.conditions).toEqual([
      {
        type: 'BudgetExceeded',
        status: 'True',
        reason: 'DailyBudgetSpent',
        message: expect.stringMatching(
          /^the calls of 2026-11-25 have cost the daily budget of 25\.00 EUR: new calls are refused until midnight \(Europe\/Berlin\)/,
        ),
      },
    ]);
    expect(first.notices).toEqual([expect.objectContaining({ type: 'Warning', reason: 'BudgetExceeded' })]);
    const later = planBudget(anAgent({ exceeded: true }), spent, now + 60_000);
    expect(later).toEqual({ ...first, notices: [] });
  });

  it('shows nothing before, and is looked at again, at midnight at the latest', () => {
    expect(planBudget(anAgent(), { spent: 24_999_999n, pricesIn: 'EUR' }, now)).toEqual({
      conditions: [],
      notices: [],
      requeueAfterMs: 30_000,
    });
    expect(planBudget(anAgent(), { spent: 0n, pricesIn: 'EUR' }, Date.parse('2026-11-25T22:59:50Z')).requeueAfterMs).toBe(10_000);
  });

  it('stays as it was while Postgres is away', () => {
    const away = { spent: undefined, pricesIn: 'EUR' };
    expect(planBudget(anAgent({ exceeded: true }), away, now).conditions).toMatchObject([{ status: 'True', message: 'spent' }]);
    expect(planBudget(anAgent(), away, now).conditions).toEqual([]);
  });

  it.each([
    [undefined, 'PARLEY_PRICES has no prices'],
    ['USD', 'the prices of PARLEY_PRICES are in USD'],
  ])('says that nothing is counted where prices are in %s', (pricesIn, words) => {
    expect(planBudget(anAgent(), { spent: 0n, pricesIn }, now).conditions).toMatchObject([
      { status: 'Unknown', reason: 'BudgetNotCounted', message: expect.stringContaining(words) },
    ]);
  });

  it('is nothing for an agent without one', () => {
    const none = { ...anAgent(), spec: {} } as Agent;
    expect(planBudget(none, undefined, now)).toEqual({ conditions: [], notices: [] });
  });
});
