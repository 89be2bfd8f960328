/** Checks which agents have taken over. */
import { isObject } from '../../platform/json.ts';
import type { CheckResult, ToolCallRecord } from '../result.ts';
import { checkOf } from './check.ts';

/** Returns the agent that a call of a function has handed over to. */
export function handedOverTo({ result }: Pick<ToolCallRecord, 'result'>): string | undefined {
  const to = isObject(result) ? result['handed_over_to'] : undefined;
  return typeof to === 'string' ? to : undefined;
}

export function handoffCheck(agent: string, calls: readonly ToolCallRecord[], path: string): CheckResult {
  const to = calls.flatMap((call) => handedOverTo(call) ?? []);
  const actual = to.length === 0 ? 'no agent took over' : `${to.join(', then ')} took over`;
  return checkOf({ path, kind: 'handoff', met: to.includes(agent), expected: `${agent} takes over`, actual });
}
