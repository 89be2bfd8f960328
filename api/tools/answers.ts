/** What is answered of tools. */
import { z } from 'zod';

import { stateFields } from '../state/answers.ts';
import { parameterTypes } from '../../crds/tool.ts';

const toolState = z
  .object({
    ...stateFields,
    reason: stateFields.reason.describe(
      `${stateFields.reason.description ?? ''} \`AgentNotReady\`: the tool is sound, and its agent does not offer it.`,
    ),
  })
  .meta({ id: 'ToolState' });

const message = z.string().optional();

const messages = {
  tool_start_message: message,
  tool_delayed_message: message,
  tool_complete_message: message,
  tool_failed_message: message,
};

const param = z.object({ description: z.string().optional(), value: z.unknown().optional() });
const runtimeParam = param.extend({ type: z.enum(parameterTypes).optional(), required: z.boolean().optional() });

/** The definition of a custom tool: what it is for the model, and what is called. */
export const customToolAnswer = {
  function_tool: z.object({ name: z.string(), description: z.string().optional(), parameters: z.record(z.string(), z.unknown()) }),
  additional_tool_info: z.object({
    tool_type: z.literal('custom'),
    api: z.object({
      endpoint: z.string(),
      headers: z
        .record(z.string(), z.string())
        .describe('Values that look secret are `"********"` unless the key names the permission `secrets:read`.'),
      method: z.string(),
      parameters: z.object({ fixed_params: z.record(z.string(), param), runtime_params: z.record(z.string(), runtimeParam) }),
    }),
  }),
  ...messages,
};

/** An item of an agent's `llm.tools`. */
export const attachedTool = z
  .union([
    z.object({ tool_id: z.string(), ...customToolAnswer }).describe('A custom tool.'),
    z
      .object({ tool_id: z.string(), tool_name: z.string().optional(), tool_description: z.string().optional(), ...messages })
      .describe('A built-in tool.'),
  ])
  .meta({ id: 'AttachedTool' });

const kept = {
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime().describe('Of the last change of the definition, by whatever means.'),
  state: toolState,
};

export const customTool = z.object({ tool_id: z.string(), ...customToolAnswer, ...kept }).meta({ id: 'CustomTool' });

const secret = z.string().optional().describe('`"********"` unless the key names the permission `secrets:read`.');
const common = { tool_description: z.string().optional(), ...messages, ...kept };
const calendar = { event_type_id: z.union([z.int(), z.string()]), cal_api_key: secret, timezone: z.string() };

export const builtinTool = z
  .union([
    z.object({ tool_id: z.string(), tool_name: z.literal('send_email'), from_email: z.string(), app_password: secret, ...common }),
    z.object({
      tool_id: z.string(),
      tool_name: z.literal('transfer_call'),
      transfer_to: z.string(),
      transfer_type: z.enum(['cold_transfer', 'warm_transfer']),
      display_phone_number: z.boolean(),
      ...common,
    }),
    z.object({ tool_id: z.string(), tool_name: z.literal('book_calendar'), ...calendar, ...common }),
    z.object({ tool_id: z.string(), tool_name: z.literal('check_calendar_availability'), ...calendar, ...common }),
  ])
  .meta({ id: 'BuiltinTool' });
