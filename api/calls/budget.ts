import type { CallStore } from '../../store/index.ts';
import type { DailyBudget } from '../../voice/calls/usage/budget.ts';
import { ApiError } from '../http/api-error.ts';
import { callLimitReached } from './call-limit.ts';

/** The calls of the agent have cost what they may cost in a day. */
function budgetExceeded({ amount, currency, until }: DailyBudget): ApiError {
  const reset = new Date(until).toISOString();
  return new ApiError(
    'budget_exceeded',
    `the calls of the agent have cost its daily budget of ${amount} ${currency}: raise its budget, or try again after ${reset}`,
  );
}

/** Spares what is done before; the registration decides. @throws ApiError `budget_exceeded` */
export async function refuseOverBudget(
  usage: Pick<CallStore['usage'], 'spentSince'>,
  { org, agentUid, budget }: { readonly org: string; readonly agentUid: string; readonly budget: DailyBudget | undefined },
): Promise<void> {
  if (budget === undefined) return;
  const { micros, currency, since } = budget;
  if ((await usage.spentSince({ org, agentUid, currency, since: new Date(since) })) >= micros) throw budgetExceeded(budget);
}

/** Why a call was not registered. */
export function callRefused(outcome: 'limit_reached' | 'budget_exceeded', budget: DailyBudget | undefined): ApiError {
  return outcome === 'budget_exceeded' && budget !== undefined ? budgetExceeded(budget) : callLimitReached();
}
