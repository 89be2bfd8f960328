/** Finds what is wrong with an AgentTest, beyond its schema. REST asks it before the API server, so that it repeats some of the CEL rules. */
import { Cron } from 'croner';

import { errorMessageOf } from '../platform/caught.ts';
import { finishReasons } from '../platform/finish-reasons.ts';
import { isObject } from '../platform/json.ts';
import { similarName } from '../platform/similar-name.ts';
import { httpAddress } from './address.ts';
import type { AgentTestSpec } from './agent-test.ts';
import { freeJson, languageTag, plainValue, timeZone, type SpecProblem } from './limits.ts';
import { unstorable } from './unstorable.ts';

type Mock = NonNullable<AgentTestSpec['tools']>[number];
type ToolCall = NonNullable<NonNullable<AgentTestSpec['atEnd']>[number]['called']>;
type Expectation = NonNullable<NonNullable<AgentTestSpec['conversation']>[number]['expect']>[number];
type Answer = NonNullable<Expectation['answer']>;

/** Ways to compare the value of an argument, by the one field of the matcher. */
export const argumentMatchers = ['contains', 'matches', 'equals'] as const;

export function agentTestProblems(spec: AgentTestSpec): readonly SpecProblem[] {
  const { repeat, passAtLeast = 0 } = spec;
  return [
    ...(passAtLeast > repeat ? [{ path: 'spec.passAtLeast', message: 'must not be more than repeat' }] : []),
    ...Object.entries(spec.dynamicData ?? {}).flatMap(([key, value]) => plainValue(key, value, 'spec.dynamicData')),
    ...(spec.tools ?? []).flatMap((mock, index) => mockProblems(mock, `spec.tools[${index}]`)),
    ...(spec.conversation ?? []).flatMap(({ expect = [] }, turn) =>
      expect.flatMap((check, index) => expectationProblems(check, `spec.conversation[${turn}].expect[${index}]`)),
    ),
    ...(spec.atEnd ?? []).flatMap(({ called, analysis, ends }, index) =>
      toolCallProblems(called, `spec.atEnd[${index}].called`).concat(
        analysisProblems(analysis, `spec.atEnd[${index}].analysis`),
        endProblems(ends, `spec.atEnd[${index}].ends`),
      ),
    ),
    ...modelProblems(spec.judge, 'spec.judge'),
    ...modelProblems(spec.simulatedUser?.llm, 'spec.simulatedUser.llm'),
    ...scheduleProblems(spec.schedule, 'spec.schedule'),
    ...(spec.timeZone === undefined ? [] : timeZone(spec.timeZone, 'spec.timeZone')),
    ...unstorable(spec, 'spec'),
  ];
}

function expectationProblems({ answer, tool, ends }: Expectation, path: string): readonly SpecProblem[] {
  return [...answerProblems(answer, `${path}.answer`), ...toolCallProblems(tool, `${path}.tool`), ...endProblems(ends, `${path}.ends`)];
}

const reasons: readonly string[] = finishReasons;

function endProblems(reason: string | undefined, path: string): readonly SpecProblem[] {
  if (reason === undefined || reasons.includes(reason)) return [];
  const similar = similarName(reason, reasons);
  const cure = similar === undefined ? `use one of ${reasons.join(', ')}` : `did you mean ${similar}?`;
  return [{ path, message: `calls never end with ${JSON.stringify(reason)}: ${cure}` }];
}

function mockProblems(mock: Mock, path: string): readonly SpecProblem[] {
  return [
    ...returnsProblems(mock, path),
    ...(mock.sequence ?? []).flatMap((answer, index) => returnsProblems(answer, `${path}.sequence[${index}]`)),
    ...freeJson(mock.when, `${path}.when`),
  ];
}

/** Has the rule of `returns` in the union: CEL sees no field whose value may be anything. */
function returnsProblems({ type, returns }: Pick<Mock, 'type' | 'returns'>, path: string): readonly SpecProblem[] {
  return (returns !== undefined) === (type === 'Returns')
    ? freeJson(returns, `${path}.returns`)
    : [{ path, message: 'set returns with type Returns, and with no other type' }];
}

function answerProblems(answer: Answer | undefined, path: string): readonly SpecProblem[] {
  if (answer === undefined) return [];
  const { matches, language } = answer;
  const asks = Object.values(answer).some((value) => value !== undefined);
  return [
    ...(asks ? [] : [{ path, message: 'set at least one of contains, notContains, matches, maxWords and language' }]),
    ...patternProblems(matches, `${path}.matches`),
    ...(language === undefined ? [] : languageTag(language, `${path}.language`)),
  ];
}

function toolCallProblems(call: ToolCall | undefined, path: string): readonly SpecProblem[] {
  if (call?.arguments === undefined) return [];
  const tooLarge = freeJson(call.arguments, `${path}.arguments`);
  if (tooLarge.length > 0) return tooLarge;
  if (call.times === 0) return [{ path: `${path}.arguments`, message: 'mean nothing with times: 0; leave one of them out' }];
  return Object.entries(call.arguments).flatMap(([name, value]) => matcherProblems(value, `${path}.arguments.${name}`));
}

/** Refuses a plain object rather than compare it: with a typing error in `contains` it would be a value that no argument ever equals. */
function matcherProblems(matcher: unknown, path: string): readonly SpecProblem[] {
  if (!isObject(matcher)) return [];
  const keys = Object.keys(matcher);
  const [key] = keys;
  const kind = argumentMatchers.find((name) => name === key);
  if (keys.length !== 1 || kind === undefined)
    return [{ path, message: `must be a value or one of ${argumentMatchers.join(', ')}; compare with an object by equals` }];
  if (kind === 'equals') return [];
  if (typeof matcher[kind] !== 'string' || matcher[kind] === '')
    return [{ path: `${path}.${kind}`, message: 'must be a text that is not empty' }];
  return kind === 'matches' ? patternProblems(matcher[kind], `${path}.matches`) : [];
}

function analysisProblems(analysis: { readonly equals?: unknown } | undefined, path: string): readonly SpecProblem[] {
  if (analysis === undefined || ['string', 'number', 'boolean'].includes(typeof analysis.equals)) return [];
  return [{ path: `${path}.equals`, message: 'must be a text, a number or a boolean' }];
}

/** Reads the regular expressions of a test. */
export const expectedPattern = (pattern: string): RegExp => new RegExp(pattern, 'u');

function patternProblems(pattern: string | undefined, path: string): readonly SpecProblem[] {
  if (pattern === undefined) return [];
  try {
    expectedPattern(pattern);
    return [];
  } catch (error) {
    return [{ path, message: `is not a regular expression: ${errorMessageOf(error)}` }];
  }
}

function modelProblems(
  model: { readonly provider: string; readonly baseURL?: string | undefined } | undefined,
  path: string,
): readonly SpecProblem[] {
  if (model === undefined) return [];
  const lacksAddress = model.provider === 'openai_compatible' && model.baseURL === undefined;
  return [
    ...(lacksAddress ? [{ path: `${path}.baseURL`, message: 'is required for provider openai_compatible' }] : []),
    ...httpAddress(model.baseURL, `${path}.baseURL`),
  ];
}

const CRON_NAMES = /^(JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC|SUN|MON|TUE|WED|THU|FRI|SAT)$/i;

function scheduleProblems(schedule: string | undefined, path: string): readonly SpecProblem[] {
  if (schedule === undefined) return [];
  // Only some readers of cron know what other letters mean.
  const foreign = schedule.match(/[A-Za-z]+/g)?.find((word) => !CRON_NAMES.test(word));
  if (foreign !== undefined) return [{ path, message: `${foreign} is neither a month nor a day of the week` }];
  try {
    const next = new Cron(schedule, { mode: '5-part', timezone: 'UTC', paused: true }).nextRun(new Date(0));
    return next === null ? [{ path, message: 'names a time that never comes' }] : [];
  } catch (error) {
    return [{ path, message: `is not a cron expression: ${errorMessageOf(error)}` }];
  }
}
