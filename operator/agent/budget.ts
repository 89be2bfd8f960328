/** Plans what the daily budget of an agent means for its status. Pure. */
import { isDeepStrictEqual } from 'node:util';

import { dateIn, isTimeZone } from '../../platform/local-time.ts';
import { budgetOf } from '../../calls/usage/budget.ts';
import type { Agent } from '../../crds/index.ts';
import type { ServingBudget } from '../../store/index.ts';
import type { Notice } from '../runtime/reconciler.ts';
import { findCondition } from '../../crds/kind.ts';
import type { PlannedCondition } from '../status/conditions.ts';

export interface BudgetView {
  /** Spending of the day's calls, in millionths of the budget's currency; undefined while Postgres is unavailable. */
  readonly spent: bigint | undefined;
  /** Currency of the prices; undefined where there are none. */
  readonly pricesIn: string | undefined;
}

export interface BudgetPlan {
  readonly conditions: readonly PlannedCondition[];
  readonly notices: readonly Notice[];
  readonly requeueAfterMs?: number;
}

/** How often the spending of an agent is read for its status, in milliseconds. Calls are refused by the spending itself. */
const LOOK_MS = 30_000;

const NONE: BudgetPlan = { conditions: [], notices: [] };

/** Calls follow the spec's budget at once, whichever revisions serve them. */
export interface BudgetAction {
  readonly type: 'budget';
  readonly budget: ServingBudget | undefined;
}

/** @param stored the budget that calls are counted against now */
export function budgetActions({ spec: { budget, timeZone = 'UTC' } }: Agent, stored: ServingBudget | undefined): readonly BudgetAction[] {
  const wanted = budget && { ...budget, timeZone };
  // A budget in a time zone that does not exist has no days: the former one counts on.
  if (isDeepStrictEqual(wanted, stored) || (wanted !== undefined && !isTimeZone(timeZone))) return [];
  return [{ type: 'budget', budget: wanted }];
}

/** @param now milliseconds since the epoch */
export function planBudget(agent: Agent, view: BudgetView | undefined, now: number): BudgetPlan {
  const budget = budgetOf(agent.spec, now);
  if (budget === undefined || view === undefined) return NONE;
  const requeueAfterMs = Math.min(LOOK_MS, Math.max(1, budget.until - now));
  if (view.pricesIn !== budget.currency) {
    const priced = view.pricesIn === undefined ? 'PARLEY_PRICES has no prices' : `the prices of PARLEY_PRICES are in ${view.pricesIn}`;
    const message = `spec.budget is in ${budget.currency}, and ${priced}: nothing is counted, and no call is refused`;
    return {
      conditions: [{ type: 'BudgetExceeded', status: 'Unknown', reason: 'BudgetNotCounted', message }],
      notices: [],
      requeueAfterMs,
    };
  }
  const before = findCondition(agent, 'BudgetExceeded');
  if (view.spent === undefined && before?.status === 'True')
    return {
      conditions: [{ type: 'BudgetExceeded', status: 'True', reason: 'DailyBudgetSpent', message: before.message }],
      notices: [],
      requeueAfterMs,
    };
  if (view.spent === undefined || view.spent < budget.micros) return { ...NONE, requeueAfterMs };
  const { timeZone = 'UTC' } = agent.spec;
  const message = `the calls of ${dateIn(now, timeZone)} have cost the daily budget of ${budget.amount} ${budget.currency}: new calls are refused until midnight (${timeZone}); to take calls before, raise spec.budget.daily`;
  return {
    conditions: [{ type: 'BudgetExceeded', status: 'True', reason: 'DailyBudgetSpent', message }],
    notices: before?.status === 'True' ? [] : [{ type: 'Warning', reason: 'BudgetExceeded', message }],
    requeueAfterMs,
  };
}
