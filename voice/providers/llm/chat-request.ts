/** Builds the request that a conversation sends to a language model, in the form of OpenAI's `/chat/completions`. */
import type { ProviderEndpoint } from '../../../calls/provider-access/index.ts';
import type { JsonObject } from '../../../platform/json.ts';
import { chatMessagesOf } from './chat-messages.ts';
import type { AnswerRequest, OfferedTool } from './history.ts';

export interface ChatRequestOptions {
  readonly endpoint: ProviderEndpoint & { readonly model: string };
  readonly request: AnswerRequest;
  readonly temperature?: number | undefined;
  readonly maxTokens?: number | undefined;
}

/** Matches OpenAI's names of models that take no temperature, whatever gateways put before them. */
const TAKES_NO_TEMPERATURE = /^(.*\/)?(o1|o3|o4|gpt-5)/;
const TAKES_EFFORT = /^gpt-5(\.[124]|\.4-mini|-mini|-nano)?$/;
const TAKES_NO_EFFORT_WITH_TOOLS = /^gpt-5\.[24]/;

export function chatRequestOf({ endpoint, request, temperature, maxTokens }: ChatRequestOptions): JsonObject {
  const { provider, model } = endpoint;
  // The order of tools is the same in each request: providers cache its beginning.
  const tools = request.tools.toSorted((a, b) => a.name.localeCompare(b.name)).map((tool) => offered(tool, provider));
  const offersTools = tools.length > 0;
  const effort = provider === 'openai' && !(offersTools && TAKES_NO_EFFORT_WITH_TOOLS.test(model)) ? effortOf(model) : undefined;
  return {
    model,
    messages: chatMessagesOf(request),
    ...(offersTools && { tools }),
    stream: true,
    stream_options: { include_usage: true },
    // A temperature of 0 is sent, too: providers' defaults differ.
    ...(temperature !== undefined && !TAKES_NO_TEMPERATURE.test(model) && { temperature }),
    ...(maxTokens !== undefined && { [limitName(endpoint)]: maxTokens }),
    ...(effort !== undefined && { reasoning_effort: effort }),
    ...(offersTools && !request.mayCall && { tool_choice: 'none' }),
  };
}

/** Returns the name of the limit: OpenAI's newer models take only the new name, most other servers only the old one. */
const limitName = ({ provider }: ProviderEndpoint): string =>
  provider === 'openai' || provider === 'azure_openai' ? 'max_completion_tokens' : 'max_tokens';

/** Returns as little effort as the model takes: a caller waits for the answer. */
const effortOf = (model: string): string | undefined =>
  TAKES_EFFORT.test(model) ? (model.startsWith('gpt-5.') ? 'none' : 'minimal') : undefined;

/** Offers a tool without parameters to Gemini where it takes none: Gemini refuses an object without properties. */
function offered({ name, description, parameters }: OfferedTool, provider: string): JsonObject {
  const { $schema: _dropped, ...schema } = parameters;
  const { properties = {}, additionalProperties } = schema;
  const isEmpty = Object.keys(properties as object).length === 0 && !additionalProperties;
  return { type: 'function', function: { name, description, ...(!(provider === 'google' && isEmpty) && { parameters: schema }) } };
}
