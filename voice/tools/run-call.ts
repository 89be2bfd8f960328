/** Runs a call of the model, with its tool's messages. */
import { describeProblem, rawArgumentsIn } from '../../calls/model-stream/index.ts';
import { ProviderKeyError } from '../../calls/provider-access/index.ts';
import { fillTemplate, type DynamicData } from '../../crds/template.ts';
import { DELAYED_AFTER_MS } from '../../crds/tool.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import type { CallToolCall } from '../../store/index.ts';
import { fitArguments } from './arguments.ts';
import type { ToolHost } from './tool-host.ts';
import { failure, STOPPED, type Arguments, type ToolDefinition, type ToolResult } from './tool-result.ts';
import { valueText } from '../../platform/telemetry/gen-ai/content.ts';
import * as genAi from '../../platform/telemetry/gen-ai/conventions.ts';
import { capturesContent, type Span, type SpanStart } from '../../platform/telemetry/tracing.ts';

export interface RunOptions {
  readonly host: ToolHost;
  readonly data: DynamicData;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Aborts when the call is over. */
  readonly signal: AbortSignal;
}

export interface GivenCall {
  readonly callId: string;
  readonly args: Arguments;
  /** Aborts when the user cuts in: a tool that only reads or waits stops at once. */
  readonly interrupted: AbortSignal;
}

export interface FinishedCall {
  readonly result: ToolResult;
  readonly record: Omit<CallToolCall, 'seq'>;
}

/** Runs a call, if its arguments fit. Never rejects. */
export async function runCall(
  definition: ToolDefinition,
  { callId, args: given, interrupted }: GivenCall,
  options: RunOptions,
): Promise<FinishedCall> {
  const { clock, host, logger } = options;
  const { name, stopsOnInterruption } = definition;
  const beganAt = new Date(clock.now());
  const begin = clock.monotonic();
  const { args, refused } = checked(definition, given);
  if (refused !== undefined) logger.info({ tool: name }, "a tool wasn't run: its arguments don't fit");
  const signal = stopsOnInterruption === true ? AbortSignal.any([options.signal, interrupted]) : options.signal;
  const result = await inToolSpan({ definition, args, callId, startSpan: (start) => host.startSpan(start) }, async () =>
    refused === undefined ? runTool(definition, args, { ...options, signal }) : failure(refused),
  );
  return { result, record: recordOf(definition, args, { result, beganAt, durationMs: Math.round(clock.monotonic() - begin) }) };
}

/** Refuses a tool that the model made up: it learns which there are. */
export function refuseUnknown(
  { name, args, known }: { readonly name: string; readonly args: Arguments; readonly known: readonly string[] },
  { clock, logger }: Pick<RunOptions, 'clock' | 'logger'>,
): FinishedCall {
  logger.info({ tool: name }, "a tool wasn't run: the agent has no such tool");
  const result = failure(`There is no tool ${name}, so nothing was done. There are: ${known.join(', ')}.`);
  return { result, record: recordOf({ name }, args, { result, beganAt: new Date(clock.now()), durationMs: 0 }) };
}

/** Stands in the place of what a sensitive tool answered. */
export const SENSITIVE = '[sensitive]';

function recordOf(
  { name, sensitive = false }: Pick<ToolDefinition, 'name' | 'sensitive'>,
  args: Arguments,
  { result: { succeeded, forModel = null }, ...times }: Pick<FinishedCall, 'result'> & Pick<CallToolCall, 'beganAt' | 'durationMs'>,
): FinishedCall['record'] {
  const result = typeof forModel === 'string' ? forModel : JSON.stringify(forModel);
  if (sensitive) return { name, arguments: null, result: SENSITIVE, failed: !succeeded, ...times };
  return { name, arguments: args, result, failed: !succeeded, ...times };
}

/** Checks arguments. @returns the arguments as they fit, or those that were given with the problem, in words for the model */
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
  const delayed = clock.after(DELAYED_AFTER_MS, () => say(messages.delayed));
  let result: ToolResult;
  try {
    say(messages.start);
    result = await definition.run(args, signal);
  } catch (err) {
    result = signal.aborted ? failure(STOPPED, {}, 'cancelled') : wordFault(err, name, logger);
  } finally {
    delayed.cancel();
  }
  const { succeeded, detail, reason } = result;
  logger.info({ tool: name, succeeded, detail, reason, durationMs: Math.round(clock.monotonic() - begin) }, 'a tool was run');
  say(succeeded ? messages.complete : messages.failed, true);
  return result;
}

/** Words a fault without details: the model can't correct it, and the user should not hear it. */
function wordFault(err: unknown, tool: string, logger: Logger): ToolResult {
  if (err instanceof ProviderKeyError) {
    logger.warn({ tool, reason: err.reason }, `a tool has no credentials: ${err.message}`);
    return failure('The tool does not work at the moment: it is not set up completely.', {}, 'credentials');
  }
  logger.error({ err, tool }, 'a tool failed unexpectedly');
  return failure('The tool does not work at the moment.', {}, 'internal');
}

interface ToolSpanOptions {
  readonly definition: Pick<ToolDefinition, 'name' | 'description' | 'searches'>;
  readonly args: Arguments;
  /** Id of the call, as the model numbers it. */
  readonly callId: string;
  readonly startSpan: (start: SpanStart) => Span;
}

/** Runs a tool in a span. @param run never rejects */
async function inToolSpan({ definition, args, callId, startSpan }: ToolSpanOptions, run: () => Promise<ToolResult>): Promise<ToolResult> {
  const { name, description, searches = false } = definition;
  const span = startSpan({
    name: genAi.spanName(genAi.EXECUTE_TOOL, name),
    attributes: {
      [genAi.OPERATION_NAME]: genAi.EXECUTE_TOOL,
      [genAi.TOOL_NAME]: name,
      [genAi.TOOL_CALL_ID]: callId,
      [genAi.TOOL_TYPE]: searches ? 'datastore' : 'function',
      // A description may have data of the call in it.
      ...(capturesContent() && {
        [genAi.TOOL_DESCRIPTION]: description === '' ? undefined : description,
        [genAi.TOOL_CALL_ARGUMENTS]: valueText(args),
      }),
    },
  });
  const result = await span.run(run);
  if (capturesContent()) span.set({ [genAi.TOOL_CALL_RESULT]: valueText(result.forModel ?? null) });
  if (!result.succeeded) span.fail('tool_failed');
  span.end();
  return result;
}
