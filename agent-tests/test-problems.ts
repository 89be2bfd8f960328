/** Why a test cannot be evaluated for an agent: found before anything runs, so that it is an error and never counts as passed. */
import type { AgentRevisionConfig } from '../crds/agent-revision.ts';
import type { AgentTestSpec } from '../crds/agent-test.ts';
import { agentTestProblems } from '../crds/agent-test-problems.ts';
import type { SpecProblem } from '../crds/limits.ts';
import { functionNamesOf, SEARCH_FUNCTION } from '../voice/tools/create-tools.ts';
import { isKnownLanguage } from './checks/language.ts';

export interface TestedAgent {
  readonly config: Pick<AgentRevisionConfig, 'agent' | 'tools' | 'knowledgeBase' | 'name'>;
  /** Whether the knowledge base can be searched. */
  readonly searches: boolean;
}

export async function testProblems(spec: AgentTestSpec, { config, searches }: TestedAgent): Promise<readonly SpecProblem[]> {
  const names = functionNamesOf(config, { keypad: true });
  const known = (name: string | undefined, path: string): readonly SpecProblem[] =>
    name === undefined || names.includes(name)
      ? []
      : [{ path, message: `agent ${config.name} has no function "${name}": it has ${names.join(', ')}` }];
  const mocks = (spec.tools ?? []).flatMap(({ name, passthrough }, index) => {
    const message = `there is no knowledge base to search here: give what ${name} returns`;
    const unsearchable = name === SEARCH_FUNCTION && passthrough === true && !searches;
    return known(name, `spec.tools[${index}].name`).concat(unsearchable ? [{ path: `spec.tools[${index}].passthrough`, message }] : []);
  });
  const turns = await Promise.all(
    (spec.conversation ?? []).flatMap(({ expect = [] }, turn) =>
      expect.map(async ({ tool, answer }, index) => {
        const path = `spec.conversation[${turn}].expect[${index}]`;
        return [...known(tool?.name, `${path}.tool.name`), ...(await languageProblems(answer?.language, `${path}.answer.language`))];
      }),
    ),
  );
  const questions = (config.agent.postCallAnalysis ?? []).map(({ name }) => name);
  const atEnd = (spec.atEnd ?? []).flatMap(({ neverCalled, called, analysis }, index) => {
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
    return known(neverCalled, `${path}.neverCalled`).concat(known(called?.name, `${path}.called.name`), strange);
  });
  return [...agentTestProblems(spec), ...mocks, ...turns.flat(), ...atEnd];
}

async function languageProblems(tag: string | undefined, path: string): Promise<readonly SpecProblem[]> {
  if (tag === undefined || (await isKnownLanguage(tag))) return [];
  return [{ path, message: `"${tag}" cannot be detected: ask a judge instead, for example "judge: speaks ${tag}"` }];
}
