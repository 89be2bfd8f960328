/**
 * Tools in the form of the agent session, with their messages.
 *
 * Tools of one turn run in parallel, each with its own messages; the host speaks them one after the other. A tool that has begun is not stopped when
 * the user interrupts, unless it only reads or waits: its effects could not be undone. Its result is then added to the conversation here.
 */
import { llm } from '@livekit/agents';

import { describeProblem, rawArgumentsIn } from '../calls/model-stream/index.ts';
import { ProviderKeyError } from '../calls/provider-access/index.ts';
import { type DynamicData, fillTemplate } from '../calls/template.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import { fitArguments } from './arguments.ts';
import { offeredParameters } from './offered-parameters.ts';
import { inToolSpan } from './tool-span.ts';
import type { ToolHost } from './tool-host.ts';
import { type Arguments, failure, STOPPED, type ToolDefinition, type ToolResult } from './tool-result.ts';

/** When a tool takes longer, the agent says its `delayed` message; in milliseconds. */
const DELAYED_AFTER_MS = 5_000;

export interface RunOptions {
  readonly host: ToolHost;
  readonly data: DynamicData;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Aborts when the call is over. */
  readonly signal: AbortSignal;
}

export function toFunctionTool(definition: ToolDefinition, options: RunOptions): llm.FunctionTool {
  const { name, description, parameters } = definition;
  return llm.tool({
    name,
    description,
    parameters: offeredParameters(parameters),
    execute: async (given: Arguments, { ctx, toolCallId: callId, abortSignal }) => {
      const { clock, host, logger } = options;
      const beganAt = new Date(clock.now());
      const begin = clock.monotonic();
      const { args, refused } = checked(definition, given);
      if (refused !== undefined) logger.info({ tool: name }, "a tool wasn't run: its arguments don't fit");
      const signal = definition.stopsOnInterruption === true ? AbortSignal.any([options.signal, abortSignal]) : options.signal;
      const result = await inToolSpan({ definition, args, callId, startSpan: (start) => host.startSpan(start) }, async () =>
        refused === undefined ? runTool(definition, args, { ...options, signal }) : failure(refused),
      );
      host.recordToolCall({
        name,
        arguments: args,
        result: typeof result.forModel === 'string' ? result.forModel : JSON.stringify(result.forModel ?? null),
        failed: !result.succeeded,
        beganAt,
        durationMs: Math.round(clock.monotonic() - begin),
      });
      if (abortSignal.aborted && refused === undefined) await keepResult(ctx, result);
      return result.forModel;
    },
  });
}

/** @returns the arguments as they fit, or those that were given with the problem, in words for the model */
function checked(definition: ToolDefinition, given: Arguments): { readonly args: Arguments; readonly refused?: string } {
  const raw = rawArgumentsIn(given);
  const refused = raw === undefined ? definition.refuse(given) : describeProblem(raw);
  if (refused === undefined) return { args: given };
  const fitting = raw === undefined ? fitArguments(definition.parameters, given) : given;
  return fitting !== given && definition.refuse(fitting) === undefined ? { args: fitting } : { args: given, refused };
}

/** Runs a tool with its messages. Never rejects. */
export async function runTool(definition: ToolDefinition, args: Arguments, options: RunOptions): Promise<ToolResult> {
  const { host, data, clock, logger, signal } = options;
  const { name, messages } = definition;
  const say = (template: string | undefined, answers = false): void => {
    const text = fillTemplate(template ?? '', data).trim();
    if (text !== '' && !signal.aborted) host.say(text, { answers });
  };
  const begin = clock.monotonic();
  const resume = host.pauseSilence();
  const delayed = clock.after(DELAYED_AFTER_MS, () => say(messages.delayed));
  let result: ToolResult;
  try {
    say(messages.start);
    result = await definition.run(args, signal);
  } catch (err) {
    result = signal.aborted ? failure(STOPPED, {}, 'cancelled') : faultOf(err, name, logger);
  } finally {
    delayed.cancel();
    resume();
  }
  const { succeeded, detail, reason } = result;
  logger.info({ tool: name, succeeded, detail, reason, durationMs: Math.round(clock.monotonic() - begin) }, 'a tool was run');
  say(succeeded ? messages.complete : messages.failed, true);
  return result;
}

/** Without details: the model can't correct it, and the user should not hear it. */
function faultOf(err: unknown, tool: string, logger: Logger): ToolResult {
  if (err instanceof ProviderKeyError) {
    logger.warn({ tool, reason: err.reason }, `a tool has no credentials: ${err.message}`);
    return failure('The tool does not work at the moment: it is not set up completely.', {}, 'credentials');
  }
  logger.error({ err, tool }, 'a tool failed unexpectedly');
  return failure('The tool does not work at the moment.', {}, 'internal');
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
