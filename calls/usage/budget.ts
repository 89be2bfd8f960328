/** How much an agent may spend on calls in a day of its time zone. */
import type { AgentSpec } from '../../crds/index.ts';
import { dateIn, isTimeZone, momentOf } from '../../platform/local-time.ts';
import { microsIn } from '../../platform/money.ts';
import { DAY_MS } from '../../platform/time.ts';
import type { NewCall, ServingRevision } from '../../store/index.ts';

export interface DailyBudget {
  /** The amount as the agent's spec has it. */
  readonly amount: string;
  /** Millionths of the currency. */
  readonly micros: bigint;
  readonly currency: string;
  /** Bounds of the present day, in milliseconds since the epoch. */
  readonly since: number;
  readonly until: number;
}

/** Returns the budget of an agent that serves, whichever revision the call starts with. */
export function servedBudget({ budget }: Pick<ServingRevision, 'budget'>, now: number): DailyBudget | undefined {
  return budget === null ? undefined : budgetOf({ budget, timeZone: budget.timeZone }, now);
}

export function storedBudget(budget: DailyBudget | undefined): Pick<NewCall, 'budget'> {
  if (budget === undefined) return {};
  const { micros, currency, since } = budget;
  return { budget: { micros, currency, since: new Date(since) } };
}

/** More than a day and less than two, wherever clocks are changed. */
const PAST_MIDNIGHT_MS = 1.25 * DAY_MS;

/** Returns undefined for an agent without a budget, and for one in a time zone that does not exist: its spec is not accepted. */
export function budgetOf({ budget, timeZone = 'UTC' }: Pick<AgentSpec, 'budget' | 'timeZone'>, now: number): DailyBudget | undefined {
  if (budget === undefined || !isTimeZone(timeZone)) return undefined;
  const midnightBefore = (moment: number): number => momentOf(`${dateIn(moment, timeZone)}T00:00`, timeZone) ?? moment;
  const since = midnightBefore(now);
  return {
    amount: budget.daily,
    micros: microsIn(budget.daily),
    currency: budget.currency,
    since,
    until: midnightBefore(since + PAST_MIDNIGHT_MS),
  };
}
