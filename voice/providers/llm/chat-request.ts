/** The request that a conversation sends to a language model, in the form of OpenAI's `/chat/completions`. */
import { llm as llms } from '@livekit/agents';

import type { ProviderEndpoint } from '../../calls/provider-access/index.ts';
import type { JsonObject } from '../../../platform/json.ts';

export interface ChatRequestOptions {
  readonly endpoint: ProviderEndpoint & { readonly model: string };
  readonly chatCtx: llms.ChatContext;
  readonly toolCtx: llms.ToolContext | undefined;
  readonly temperature?: number | undefined;
  readonly maxTokens?: number | undefined;
  readonly toolChoice: llms.ToolChoice | undefined;
  readonly parallelToolCalls: boolean | undefined;
  /** Override all else. */
  readonly more: JsonObject | undefined;
}

/** By OpenAI's names, whatever gateways put before them. */
const TAKES_NO_TEMPERATURE = /^(.*\/)?(o1|o3|o4|gpt-5)/;
const TAKES_EFFORT = /^gpt-5(\.[124]|\.4-mini|-mini|-nano)?$/;
const TAKES_NO_EFFORT_WITH_TOOLS = /^gpt-5\.[24]/;

export async function chatRequestOf({ endpoint, chatCtx, toolCtx, more, ...options }: ChatRequestOptions): Promise<JsonObject> {
  const { provider, model } = endpoint;
  const { temperature, maxTokens, toolChoice, parallelToolCalls } = options;
  const tools = toolCtx && llms.sortedToolEntries(toolCtx).map(([name, tool]) => offered(name, tool, provider));
  const offersTools = tools !== undefined && tools.length > 0;
  const effort = provider === 'openai' && !(offersTools && TAKES_NO_EFFORT_WITH_TOOLS.test(model)) ? effortOf(model) : undefined;
  return {
    model,
    messages: await chatCtx.toProviderFormat('openai'),
    ...(tools !== undefined && { tools }),
    stream: true,
    stream_options: { include_usage: true },
    // 0, too: providers' defaults differ.
    ...(temperature !== undefined && !TAKES_NO_TEMPERATURE.test(model) && { temperature }),
    ...(maxTokens !== undefined && { [limitName(endpoint)]: maxTokens }),
    ...(effort !== undefined && { reasoning_effort: effort }),
    ...(parallelToolCalls !== undefined && offersTools && { parallel_tool_calls: parallelToolCalls }),
    ...(toolChoice !== undefined && tools !== undefined && { tool_choice: toolChoice }),
    ...more,
  };
}

/** OpenAI's newer models take only the new name, most other servers only the old one. */
export const limitName = ({ provider }: ProviderEndpoint): string =>
  provider === 'openai' || provider === 'azure_openai' ? 'max_completion_tokens' : 'max_tokens';

/** A caller waits for the answer: as little as the model takes. */
const effortOf = (model: string): string | undefined =>
  TAKES_EFFORT.test(model) ? (model.startsWith('gpt-5.') ? 'none' : 'minimal') : undefined;

/** Gemini refuses an object without properties: there what takes no parameters is offered without any. */
function offered(name: string, { description, parameters }: llms.FunctionTool, provider: string): JsonObject {
  const { $schema: _dropped, ...schema } = llms.toJsonSchema(parameters, true, false) as JsonObject;
  const { properties = {}, additionalProperties } = schema;
  const isEmpty = Object.keys(properties as object).length === 0 && !additionalProperties;
  return { type: 'function', function: { name, description, ...(!(provider === 'google' && isEmpty) && { parameters: schema }) } };
}
