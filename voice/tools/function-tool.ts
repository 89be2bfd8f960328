/**
 * Tools in the form of the agent session, with their messages.
 *
 * Tools of one turn run in parallel, each with its own messages; the host speaks them one after the other. A tool that has begun is not stopped when
 * the user interrupts, unless it only reads or waits: its effects could not be undone. Its result is then added to the conversation here.
 */
import { llm } from '@livekit/agents';

import { offeredParameters } from './offered-parameters.ts';
import { runCall, type FinishedCall, type RunOptions } from './run-call.ts';
import type { Arguments, ToolDefinition, ToolResult } from './tool-result.ts';

export interface SessionToolOptions extends RunOptions {
  readonly record: (call: FinishedCall['record']) => void;
}

export function toFunctionTool(definition: ToolDefinition, { record: keep, ...options }: SessionToolOptions): llm.FunctionTool {
  const { name, description, parameters } = definition;
  return llm.tool({
    name,
    description,
    parameters: offeredParameters(parameters),
    execute: async (args: Arguments, { ctx, toolCallId: callId, abortSignal: interrupted }) => {
      const { result, record } = await runCall(definition, { callId, args, interrupted }, options);
      keep(record);
      if (interrupted.aborted) await keepResult(ctx, result);
      return result.forModel;
    },
  });
}

/** The turn that asked for it was interrupted, and the session drops its results: the next turn gets this one. */
async function keepResult(ctx: llm.ToolOptions['ctx'], { forModel, succeeded }: ToolResult): Promise<void> {
  const { functionCall, session } = ctx;
  const output = llm.FunctionCallOutput.create({
    name: functionCall.name,
    callId: functionCall.callId,
    output: JSON.stringify(forModel ?? null),
    isError: !succeeded,
    // Right after the call that it answers.
    createdAt: functionCall.createdAt,
  });
  const agent = session.currentAgent;
  const context = agent.chatCtx.copy();
  context.insert(output);
  await agent.updateChatCtx(context);
  session.history.insert(output);
}
