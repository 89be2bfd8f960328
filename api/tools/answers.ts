/** What is answered of tools. */
import { z } from 'zod';

const message = z.string().nullable();

const messages = {
  tool_start_message: message,
  tool_delayed_message: message,
  tool_complete_message: message,
  tool_failed_message: message,
};

const params = z.record(z.string(), z.object({ description: z.string().nullable(), value: z.unknown() }));

/** The definition of a custom tool: what it is for the model, and what is called. */
export const customToolAnswer = {
  function_tool: z.object({ name: z.string(), description: z.string().nullable(), parameters: z.record(z.string(), z.unknown()) }),
  additional_tool_info: z.object({
    tool_type: z.literal('custom'),
    api: z.object({
      endpoint: z.string(),
      headers: z
        .record(z.string(), z.string())
        .describe('Values that look secret are `"********"` unless the key names the permission `secrets:read`.'),
      method: z.string(),
      parameters: z.object({ fixed_params: params, runtime_params: params }),
    }),
  }),
  ...messages,
};

/** An item of an agent's `llm.tools`. */
export const attachedTool = z
  .union([
    z.object({ tool_id: z.string(), ...customToolAnswer }).describe('A custom tool.'),
    z
      .object({ tool_id: z.string(), tool_name: z.string().nullable(), tool_description: z.string().nullable(), ...messages })
      .describe('A built-in tool.'),
  ])
  .meta({ id: 'AttachedTool' });
