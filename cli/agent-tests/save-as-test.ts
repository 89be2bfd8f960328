/** Saves a conversation as an AgentTest: what the user said, mocks for the tools that were called, and what is likely to hold again. */
import { API_VERSION } from '../../crds/kind.ts';
import { handedOverTo } from '../../agent-tests/checks/handoff.ts';
import type { ToolCallRecord } from '../../agent-tests/result.ts';
import type { AgentTurn } from '../../agent-tests/driver.ts';
import { canonicalJson } from '../../platform/canonical-json.ts';
import type { FileObject } from '../agent-files/documents.ts';

export type ChatTurn = { readonly turn: AgentTurn } & ({ readonly user: string } | { readonly keys: string });

export interface ConversationToSave {
  readonly name: string;
  readonly agent: string;
  readonly namespace: string | undefined;
  readonly dynamicData: Readonly<Record<string, unknown>>;
  readonly turns: readonly ChatTurn[];
}

/** These functions act on the call, and need no mock. */
const BUILT_IN = new Set(['end_call', 'transfer_call', 'collect_digits', 'send_digits']);

export function agentTestOf({ name, agent, namespace, dynamicData, turns }: ConversationToSave): FileObject {
  const calls = turns.flatMap(({ turn }) => turn.toolCalls);
  const tools = mocksOf(calls.filter((call) => !BUILT_IN.has(call.name) && handedOverTo(call) === undefined));
  return {
    apiVersion: API_VERSION,
    kind: 'AgentTest',
    metadata: { name, ...(namespace !== undefined && { namespace }) },
    spec: {
      agentRefs: [{ name: agent }],
      ...(Object.keys(dynamicData).length > 0 && { dynamicData }),
      ...(tools.length > 0 && { tools }),
      type: 'Conversation',
      conversation: turns.map(({ turn, ...said }) => {
        const expect = expectationsOf(turn);
        return { type: 'user' in said ? 'User' : 'Keys', ...said, ...(expect.length > 0 && { expect }) };
      }),
    },
  };
}

/** Mocks answer by arguments where a function was called with several. */
function mocksOf(calls: readonly ToolCallRecord[]): readonly object[] {
  return [...Map.groupBy(calls, ({ name }) => name)].flatMap(([name, own]) => {
    const count = ([call]: readonly ToolCallRecord[]): number => (call === undefined ? 0 : Object.keys(stableArguments(call)).length);
    const groups = Map.groupBy(own, (call) => canonicalJson(stableArguments(call)));
    // The first mock that fits answers: the one that wants most comes first.
    const byArguments = [...groups.values()].toSorted((a, b) => count(b) - count(a));
    return byArguments.flatMap((alike) => {
      const [first] = alike;
      if (first === undefined) return [];
      const when = byArguments.length === 1 ? {} : stableArguments(first);
      const answers = alike.map(answerOf);
      const same = answers.every((answer) => canonicalJson(answer) === canonicalJson(answerOf(first)));
      const { type, ...answer } = same ? answerOf(first) : { type: 'Sequence', sequence: answers };
      return Object.assign({ name, type }, Object.keys(when).length > 0 && { when }, answer);
    });
  });
}

const answerOf = ({ result, error }: ToolCallRecord) =>
  error === undefined ? { type: 'Returns', returns: result ?? null } : { type: 'Error', error };

function expectationsOf({ toolCalls, ended }: AgentTurn): readonly object[] {
  const byCall = [...Map.groupBy(toolCalls, (call) => canonicalJson([call.name, stableArguments(call)])).values()];
  const tools = byCall.flatMap(([call]): readonly object[] => {
    if (call === undefined || call.name === 'end_call') return [];
    const handoff = handedOverTo(call);
    if (handoff !== undefined) return [{ type: 'Handoff', handoff }];
    const args = stableArguments(call);
    return [{ type: 'Tool', tool: { name: call.name, ...(Object.keys(args).length > 0 && { arguments: args }) } }];
  });
  return [...tools, ...(ended === undefined ? [] : [{ type: 'Ends', ends: ended }])];
}

/** Keeps numbers, booleans, and texts like an id: a model words the others differently each time. */
function stableArguments({ arguments: args }: ToolCallRecord): Readonly<Record<string, unknown>> {
  const stable = (value: unknown): boolean =>
    typeof value === 'number' || typeof value === 'boolean' || (typeof value === 'string' && /^\S*\d\S*$/.test(value));
  return Object.fromEntries(Object.entries(args).filter(([, value]) => stable(value)));
}
