/**
 * Finds tool calls that are a mistake of agent or test, whatever else is expected: calls without a mock, and of functions that don't exist.
 */
import type { AgentTestSpec } from '../../crds/agent-test.ts';
import { SEARCH_FUNCTION } from '../../voice/tools/create-tools.ts';
import { NOT_MOCKED } from '../../voice/tools/tool-mocks.ts';
import type { CheckResult, ToolCallRecord } from '../result.ts';
import { json } from './check.ts';
import { describeCalls } from './tool-calls.ts';

type Mock = NonNullable<AgentTestSpec['tools']>[number];
type Expectation = NonNullable<NonNullable<AgentTestSpec['conversation']>[number]['expect']>[number];

/** Reports calls without a mock. A search without a knowledge base can't be answered for the agent at all: the test is an error. */
export function unmockedChecks(calls: readonly ToolCallRecord[], mocks: readonly Mock[]): readonly CheckResult[] {
  return calls
    .filter(({ error }) => error === NOT_MOCKED)
    .map((call) => {
      const { name } = call;
      const own = mocks.flatMap((mock, index) => (mock.name === name ? [{ index, when: mock.when }] : []));
      const shownMocks = own.map(({ index, when }) => `spec.tools[${index}] answers ${name} with ${json(when)}`).join(', ');
      const [first] = own;
      return {
        path: first === undefined ? 'spec.tools' : `spec.tools[${first.index}].when`,
        kind: 'mock',
        verdict: name === SEARCH_FUNCTION ? 'error' : 'failed',
        expected: `a mock for ${describeCalls([call])}, or no call`,
        actual: first === undefined ? 'the call has no mock' : `no mock fits: ${shownMocks}`,
        reason: first === undefined ? howToMock(name) : 'change when, or add an entry without it, which answers every call',
      };
    });
}

function howToMock(name: string): string {
  return `add ${name} to spec.tools${name === SEARCH_FUNCTION ? '' : ', with type: Passthrough to call the tool itself'}`;
}

/** @param agent the agent that the conversation begins with. @param functions names of each agent's functions. @param expect expectations of the turn, and of the end of the test */
export function unknownCallChecks(
  calls: readonly ToolCallRecord[],
  {
    agent: first,
    functions,
    expect,
    path,
  }: {
    readonly agent: string;
    readonly functions: ReadonlyMap<string, readonly string[]>;
    readonly expect: readonly Expectation['tool'][];
    readonly path: string;
  },
): readonly CheckResult[] {
  const expected = new Set(expect.flatMap((tool) => (tool?.unknown === true ? [tool.name] : [])));
  return calls
    .map((call) => ({ call, known: functions.get(call.agent ?? first) ?? [] }))
    .filter(({ call: { name }, known }) => !known.includes(name) && !expected.has(name))
    .map(({ call, known }) => ({
      path,
      kind: 'tool',
      verdict: 'failed',
      expected: `calls of ${known.join(', ')} only`,
      actual: describeCalls([call]),
      reason: `${call.agent === undefined || call.agent === first ? 'the agent' : `agent ${call.agent}`} has no function ${call.name}: look for it in the prompt, attach a tool, or expect "type: Tool" with "tool: {name: ${call.name}, unknown: true}"`,
    }));
}
