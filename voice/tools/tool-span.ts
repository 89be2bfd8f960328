import { valueText } from '../../platform/telemetry/gen-ai/content.ts';
import * as genAi from '../../platform/telemetry/gen-ai/conventions.ts';
import { capturesContent, type Span, type SpanStart } from '../../platform/telemetry/tracing.ts';
import type { Arguments, ToolDefinition, ToolResult } from './tool-result.ts';

export interface ToolSpanOptions {
  readonly definition: Pick<ToolDefinition, 'name' | 'description' | 'searches'>;
  readonly args: Arguments;
  /** Id of the call, as the model numbers it. */
  readonly callId: string;
  readonly startSpan: (start: SpanStart) => Span;
}

/** Runs a tool in a span. @param run never rejects */
export async function inToolSpan(
  { definition, args, callId, startSpan }: ToolSpanOptions,
  run: () => Promise<ToolResult>,
): Promise<ToolResult> {
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
