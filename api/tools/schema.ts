import { z } from 'zod';

import { toolMethods } from '../../crds/http-method.ts';
import { parameterTypes } from '../../crds/tool.ts';
import { headerMap } from '../codec/schemas.ts';
import { issues, type Loc, type ValidationIssue } from '../validation/issue.ts';
import { inAnyCase } from '../validation/normalize.ts';
import { withRule } from '../validation/validate.ts';

const text = (max: number) => z.string().max(max);
const message = () => text(1000).nullish();

const param = { description: text(1500).nullish(), value: z.unknown().optional() };
/** Longest key as in the resources. */
const params = <T extends z.ZodType>(item: T) => z.record(z.string().max(128), item).meta({ maxProperties: 64 });
const runtimeParam = z.object({
  ...param,
  type: z.enum(parameterTypes).nullish().describe('A text in the dynamic data that can be read as this type is sent as such.'),
  required: z.boolean().nullish().describe('Without a value nothing is requested, and the tool fails.'),
});

const functionTool = z.object({
  name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/),
  description: text(4096).nullish(),
  parameters: z.record(z.string(), z.unknown()).meta({ maxProperties: 64 }).nullish(),
});

const toolType = z.literal('custom').nullish();

const api = z.object({
  endpoint: z
    .string()
    .max(2048)
    .regex(/^https?:\/\//),
  headers: headerMap.nullish(),
  method: inAnyCase(z.enum(toolMethods)).nullish(),
  parameters: z.object({ fixed_params: params(z.object(param)).nullish(), runtime_params: params(runtimeParam).nullish() }).nullish(),
});

const additionalToolInfo = z.object({ tool_type: toolType, api });

export const toolId = {
  tool_id: text(253)
    .nullish()
    .describe('Name of a new tool, in the form of a Kubernetes name; made up where absent. In an update it is that of the path.'),
};

/** The four texts that every tool has. */
export const messages = {
  tool_start_message: message(),
  tool_delayed_message: message(),
  tool_complete_message: message(),
  tool_failed_message: message(),
};

/** A custom tool as the contract describes it. */
export const customTool = z.object({ ...toolId, function_tool: functionTool, additional_tool_info: additionalToolInfo, ...messages });

export type CustomTool = z.output<typeof customTool>;

/** Absent fields keep their value, at every level; `null` brings back the default. */
export const customToolUpdate = z.object({
  ...toolId,
  function_tool: functionTool.extend({ name: functionTool.shape.name.optional() }).optional(),
  additional_tool_info: z
    .object({ tool_type: toolType, api: api.extend({ endpoint: api.shape.endpoint.optional() }).optional() })
    .optional(),
  ...messages,
});

export type CustomToolUpdate = z.output<typeof customToolUpdate>;

/**
 * An item of `llm.tools`: a tool that exists, by `tool_id`, or a custom tool that is to be made, by its definition. With both, the tool of
 * that id is made where there is none, and a tool of the agent is updated; of a built-in tool that is what `llm.tools` shows of it.
 */
export const inlineTool = withRule(
  z.object({
    tool_id: z.string().min(1).max(253).nullish(),
    function_tool: functionTool.nullish(),
    additional_tool_info: additionalToolInfo.nullish(),
    tool_description: text(1500).nullish().describe('Of a built-in tool.'),
    ...messages,
  }),
  requireDefinition,
);

export type InlineTool = z.output<typeof inlineTool>;

function requireDefinition(
  tool: { readonly tool_id?: unknown; readonly function_tool?: unknown; readonly additional_tool_info?: unknown },
  loc: Loc,
): ValidationIssue[] {
  if (typeof tool.tool_id === 'string') return [];
  return (['function_tool', 'additional_tool_info'] as const)
    .filter((name) => (tool[name] ?? undefined) === undefined)
    .map((name) => issues.missing([...loc, name]));
}
