/** Finds why a test cannot be evaluated for an agent before anything runs, so that it is an error and never counts as passed. */
import type { AgentRevisionConfig } from '../crds/agent-revision.ts';
import type { AgentTestSpec } from '../crds/agent-test.ts';
import { agentTestProblems } from '../crds/agent-test-problems.ts';
import type { SpecProblem } from '../crds/limits.ts';
import { dynamicDataToBring, missingDynamicData } from '../calls/call-settings.ts';
import { functionNamesOf, SEARCH_FUNCTION } from '../voice/tools/create-tools.ts';
import { isKnownLanguage } from './checks/language.ts';

type ToolCall = NonNullable<NonNullable<AgentTestSpec['atEnd']>[number]['called']>;

type TestedConfig = Pick<AgentRevisionConfig, 'agent' | 'tools' | 'knowledgeBase' | 'name'>;

export interface TestedAgent {
  readonly config: TestedConfig;
  /** Other agents that may take over, by their names. */
  readonly others?: ReadonlyMap<string, TestedConfig> | undefined;
  /** True if the knowledge base can be searched. */
  readonly searches: boolean;
}

/** Returns the names by which the model calls functions in a test: the keypad's are in each. */
export const functionsOf = (config: Pick<AgentRevisionConfig, 'tools' | 'knowledgeBase' | 'agent'>): readonly string[] =>
  functionNamesOf(config, { keypad: true });

export async function testProblems(
  spec: AgentTestSpec,
  { config, others = new Map<string, TestedConfig>(), searches }: TestedAgent,
): Promise<readonly SpecProblem[]> {
  const names = [...new Set([config, ...others.values()].flatMap(functionsOf))];
  const lacks = (name: string): string => `agent ${config.name} has no function "${name}": it has ${names.join(', ')}`;
  const known = (name: string | undefined, path: string): readonly SpecProblem[] =>
    name === undefined || names.includes(name) ? [] : [{ path, message: lacks(name) }];
  const callProblems = (call: ToolCall | undefined, path: string): readonly SpecProblem[] => {
    if (call === undefined || names.includes(call.name) === (call.unknown !== true)) return [];
    if (call.unknown === true)
      return [{ path: `${path}.unknown`, message: `agent ${config.name} has the function "${call.name}": leave unknown out` }];
    return [{ path: `${path}.name`, message: `${lacks(call.name)}. Set unknown: true if the model is to make it up` }];
  };
  const handoffProblems = (name: string | undefined, path: string): readonly SpecProblem[] =>
    name === undefined || name === config.name || others.has(name)
      ? []
      : [
          {
            path,
            message: `agent ${config.name} never hands over to "${name}": ${[...others.keys()].join(', ') || 'no agent'} can take over`,
          },
        ];
  const mocks = (spec.tools ?? []).flatMap(({ name, type }, index) => {
    const message = `there is no knowledge base to search here: give what ${name} returns`;
    const unsearchable = name === SEARCH_FUNCTION && type === 'Passthrough' && !searches;
    return known(name, `spec.tools[${index}].name`).concat(unsearchable ? [{ path: `spec.tools[${index}].type`, message }] : []);
  });
  const turns = await Promise.all(
    (spec.conversation ?? []).flatMap(({ expect = [] }, turn) =>
      expect.map(async ({ tool, answer, handoff }, index) => {
        const path = `spec.conversation[${turn}].expect[${index}]`;
        return [
          ...callProblems(tool, `${path}.tool`),
          ...handoffProblems(handoff, `${path}.handoff`),
          ...(await languageProblems(answer?.language, `${path}.answer.language`)),
        ];
      }),
    ),
  );
  const questions = (config.agent.postCallAnalysis ?? []).map(({ name }) => name);
  const atEnd = (spec.atEnd ?? []).flatMap(({ neverCalled, called, analysis, handoff }, index) => {
    const path = `spec.atEnd[${index}]`;
    const strange: readonly SpecProblem[] =
      analysis === undefined || questions.includes(analysis.name)
        ? []
        : [
            {
              path: `${path}.analysis.name`,
              message: `agent ${config.name} has no result "${analysis.name}" in spec.postCallAnalysis: it has ${questions.join(', ') || 'none'}`,
            },
          ];
    return known(neverCalled, `${path}.neverCalled`).concat(
      callProblems(called, `${path}.called`),
      handoffProblems(handoff, `${path}.handoff`),
      strange,
    );
  });
  return [...agentTestProblems(spec), ...nothingExpected(spec), ...dataProblems(spec, config), ...mocks, ...turns.flat(), ...atEnd];
}

/** Finds a test without any expectation: it would pass whatever the agent does. The goal of a simulated user is an expectation. */
function nothingExpected({ conversation = [], simulatedUser, atEnd = [] }: AgentTestSpec): readonly SpecProblem[] {
  const expects = simulatedUser !== undefined || atEnd.length > 0 || conversation.some(({ expect = [] }) => expect.length > 0);
  if (expects) return [];
  const cure = 'add expect to a turn, for example "expect: [{type: Answer, answer: {contains: [nine]}}]", or atEnd to the spec';
  return [{ path: 'spec.conversation', message: `the test expects nothing, so it can't fail: ${cure}` }];
}

/** Finds missing dynamic data, without which a call is refused. */
function dataProblems({ dynamicData = {} }: AgentTestSpec, { name, agent }: TestedAgent['config']): readonly SpecProblem[] {
  return missingDynamicData({ requiredDynamicData: dynamicDataToBring(agent) }, dynamicData).map((missing) => ({
    path: 'spec.dynamicData',
    message: `agent ${name} requires "${missing}", and a call without it is refused: add ${missing} with a value`,
  }));
}

async function languageProblems(tag: string | undefined, path: string): Promise<readonly SpecProblem[]> {
  if (tag === undefined || (await isKnownLanguage(tag))) return [];
  return [{ path, message: `"${tag}" cannot be detected: ask a judge instead, for example "type: Judge" with "judge: speaks ${tag}"` }];
}
