import { llm } from '@livekit/agents';
import { describe, expect, it } from 'vitest';

import { createLogger } from '../../platform/logging.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { RecordingHost } from '../../test/support/recording-tool-host.ts';
import { toFunctionTool } from './function-tool.ts';
import type { Arguments, ToolDefinition } from './tool-result.ts';

const logger = createLogger({ role: 'voice', level: 'silent' });
const options = () => ({ host: new RecordingHost(), data: {}, clock: new FakeClock(), logger, signal: new AbortController().signal });

function aTool(run: ToolDefinition['run'], more: Partial<ToolDefinition> = {}): ToolDefinition {
  return { name: 'look_up', description: '', parameters: { type: 'object' }, messages: {}, refuse: () => undefined, run, ...more };
}

/** As the session would call it. */
function execute(
  definition: ToolDefinition,
  { aborted = false, args = {} }: { readonly aborted?: boolean; readonly args?: Arguments } = {},
) {
  const chatCtx = new llm.ChatContext();
  const history = new llm.ChatContext();
  const functionCall = llm.FunctionCall.create({ callId: 'call-1', name: definition.name, args: '{}', createdAt: Date.now() - 1_000 });
  chatCtx.insert(functionCall);
  chatCtx.addMessage({ role: 'user', content: 'wait, another thing' });
  const agent = { chatCtx, updateChatCtx: async (next: llm.ChatContext) => void (agent.chatCtx = next) };
  const recorded: unknown[] = [];
  const controller = new AbortController();
  if (aborted) controller.abort();
  const tool = toFunctionTool(definition, { ...options(), record: (call) => void recorded.push(call) });
  const ctx = { functionCall, session: { currentAgent: agent, history } } as unknown as llm.ToolOptions['ctx'];
  return { result: tool.execute(args as never, { ctx, toolCallId: 'call-1', abortSignal: controller.signal }), agent, history, recorded };
}

describe('the session', () => {
  it('gets the result', async () => {
    const { result, agent, recorded } = execute(aTool(async () => ({ succeeded: true, forModel: { a: 1 } })));
    expect(await result).toEqual({ a: 1 });
    expect(recorded).toMatchObject([{ name: 'look_up', result: '{"a":1}' }]);
    expect(agent.chatCtx.items).toHaveLength(2);
  });

  it('that no longer listens finds the result in the conversation, behind the call that it answers', async () => {
    const { result, agent, history } = execute(
      aTool(async () => ({ succeeded: true, forModel: { booked: true } })),
      { aborted: true },
    );
    await result;
    expect(agent.chatCtx.items.map(({ type }) => type)).toEqual(['function_call', 'function_call_output', 'message']);
    expect(history.items).toMatchObject([{ type: 'function_call_output', callId: 'call-1', output: '{"booked":true}' }]);
  });

  it('takes the schema as it stands', () => {
    const parameters = { type: 'object', properties: { a: { $ref: '#/$defs/x' } }, $defs: { x: { type: 'string' } }, 'x-odd': [1] };
    const tool = toFunctionTool(
      aTool(async () => ({ succeeded: true }), { parameters }),
      { ...options(), record: () => undefined },
    );
    expect(llm.toJsonSchema(tool.parameters as never)).toEqual(parameters);
  });
});
