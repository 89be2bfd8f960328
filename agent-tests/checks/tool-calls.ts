/** Checks which tools the agent calls, how often and with which arguments. */
import { isDeepStrictEqual } from 'node:util';

import { argumentMatchers } from '../../crds/agent-test-problems.ts';
import type { AgentTestSpec } from '../../crds/agent-test.ts';
import { isObject } from '../../platform/json.ts';
import { formatValue } from '../../crds/template.ts';
import type { CheckResult, ToolCallRecord } from '../result.ts';
import { matchesPattern, TOO_SLOW } from './answer.ts';
import { checkOf, json, shown } from './check.ts';
import { saysText } from './words.ts';

type ExpectedCall = NonNullable<NonNullable<AgentTestSpec['atEnd']>[number]['called']>;

export function toolCheck(
  expectation: ExpectedCall,
  calls: readonly ToolCallRecord[],
  { path, kind }: { readonly path: string; readonly kind: string },
): CheckResult {
  const { name, times, arguments: wanted = {} } = expectation;
  const named = calls.filter((call) => call.name === name);
  const often = times === undefined ? 'at least one call' : times === 1 ? 'one call' : `${times} calls`;
  const withArguments = Object.keys(wanted).length === 0 ? '' : ` with ${json(wanted)}`;
  const described = { path, kind, expected: `${often} of ${name}${withArguments}`, actual: describeCalls(calls) };
  let fitting = 0;
  for (const call of named) {
    const fit = callFits(call, wanted);
    // One search that takes too long settles the verdict: the others would take as long.
    if (fit === undefined) return { ...described, verdict: 'error', reason: TOO_SLOW };
    if (fit) fitting += 1;
  }
  return checkOf({ ...described, met: times === undefined ? fitting > 0 : fitting === times });
}

/** @returns undefined where a pattern takes too long */
function callFits({ arguments: args }: ToolCallRecord, wanted: Readonly<Record<string, unknown>>): boolean | undefined {
  for (const [key, value] of Object.entries(wanted)) {
    const fit = fits(args[key], value);
    if (fit !== true) return fit;
  }
  return true;
}

export function neverCalledCheck(name: string, calls: readonly ToolCallRecord[], path: string): CheckResult {
  const met = calls.every((call) => call.name !== name);
  return checkOf({ path, kind: 'neverCalled', met, expected: `no call of ${name}`, actual: describeCalls(calls) });
}

export function describeCalls(calls: readonly ToolCallRecord[]): string {
  return calls.length === 0 ? 'no tool was called' : shown(calls.map(({ name, arguments: args }) => `${name}(${json(args)})`).join(', '));
}

/** @param wanted a value, or one of `{contains}`, `{matches}` and `{equals}`. @returns undefined where a pattern takes too long */
function fits(value: unknown, wanted: unknown): boolean | undefined {
  const [matcher, ...more] = isObject(wanted) ? Object.entries(wanted) : [];
  const kind = argumentMatchers.find((name) => name === matcher?.[0]);
  if (matcher === undefined || more.length > 0 || kind === undefined) return isDeepStrictEqual(value, wanted);
  if (kind === 'equals') return isDeepStrictEqual(value, matcher[1]);
  if (value === undefined) return false;
  const [text, expected] = [formatValue(value), String(matcher[1])];
  return kind === 'contains' ? saysText(text, expected) : matchesPattern(text, expected);
}
