/**
 * Names of OpenTelemetry's conventions for generative AI. The compiler compares them with the package of the pinned version, which isn't
 * loaded: it would take a tenth of a second in each process. `speech_to_text` and `text_to_speech` are of the conventions' page on voice
 * agents, which is newer; this version allows operations of one's own.
 */
import type * as semconv from '@opentelemetry/semantic-conventions/incubating';

/** Schema of the version that all names belong to. */
export const SCHEMA_URL = 'https://opentelemetry.io/schemas/1.41.1';

export const OPERATION_NAME = 'gen_ai.operation.name' satisfies typeof semconv.ATTR_GEN_AI_OPERATION_NAME;
export const PROVIDER_NAME = 'gen_ai.provider.name' satisfies typeof semconv.ATTR_GEN_AI_PROVIDER_NAME;
export const CONVERSATION_ID = 'gen_ai.conversation.id' satisfies typeof semconv.ATTR_GEN_AI_CONVERSATION_ID;
export const OUTPUT_TYPE = 'gen_ai.output.type' satisfies typeof semconv.ATTR_GEN_AI_OUTPUT_TYPE;
export const REQUEST_MODEL = 'gen_ai.request.model' satisfies typeof semconv.ATTR_GEN_AI_REQUEST_MODEL;
export const REQUEST_STREAM = 'gen_ai.request.stream' satisfies typeof semconv.ATTR_GEN_AI_REQUEST_STREAM;
export const REQUEST_TEMPERATURE = 'gen_ai.request.temperature' satisfies typeof semconv.ATTR_GEN_AI_REQUEST_TEMPERATURE;
export const REQUEST_MAX_TOKENS = 'gen_ai.request.max_tokens' satisfies typeof semconv.ATTR_GEN_AI_REQUEST_MAX_TOKENS;
export const REQUEST_TOP_K = 'gen_ai.request.top_k' satisfies typeof semconv.ATTR_GEN_AI_REQUEST_TOP_K;
export const RESPONSE_ID = 'gen_ai.response.id' satisfies typeof semconv.ATTR_GEN_AI_RESPONSE_ID;
export const RESPONSE_MODEL = 'gen_ai.response.model' satisfies typeof semconv.ATTR_GEN_AI_RESPONSE_MODEL;
export const FINISH_REASONS = 'gen_ai.response.finish_reasons' satisfies typeof semconv.ATTR_GEN_AI_RESPONSE_FINISH_REASONS;
export const TIME_TO_FIRST_CHUNK = 'gen_ai.response.time_to_first_chunk' satisfies typeof semconv.ATTR_GEN_AI_RESPONSE_TIME_TO_FIRST_CHUNK;
export const INPUT_TOKENS = 'gen_ai.usage.input_tokens' satisfies typeof semconv.ATTR_GEN_AI_USAGE_INPUT_TOKENS;
export const OUTPUT_TOKENS = 'gen_ai.usage.output_tokens' satisfies typeof semconv.ATTR_GEN_AI_USAGE_OUTPUT_TOKENS;
export const CACHED_TOKENS = 'gen_ai.usage.cache_read.input_tokens' satisfies typeof semconv.ATTR_GEN_AI_USAGE_CACHE_READ_INPUT_TOKENS;
export const REASONING_TOKENS = 'gen_ai.usage.reasoning.output_tokens' satisfies typeof semconv.ATTR_GEN_AI_USAGE_REASONING_OUTPUT_TOKENS;
export const AGENT_ID = 'gen_ai.agent.id' satisfies typeof semconv.ATTR_GEN_AI_AGENT_ID;
export const AGENT_NAME = 'gen_ai.agent.name' satisfies typeof semconv.ATTR_GEN_AI_AGENT_NAME;
export const AGENT_VERSION = 'gen_ai.agent.version' satisfies typeof semconv.ATTR_GEN_AI_AGENT_VERSION;
export const DATA_SOURCE_ID = 'gen_ai.data_source.id' satisfies typeof semconv.ATTR_GEN_AI_DATA_SOURCE_ID;
export const TOOL_NAME = 'gen_ai.tool.name' satisfies typeof semconv.ATTR_GEN_AI_TOOL_NAME;
export const TOOL_TYPE = 'gen_ai.tool.type' satisfies typeof semconv.ATTR_GEN_AI_TOOL_TYPE;
export const TOOL_CALL_ID = 'gen_ai.tool.call.id' satisfies typeof semconv.ATTR_GEN_AI_TOOL_CALL_ID;
const SERVER_ADDRESS = 'server.address' satisfies typeof semconv.ATTR_SERVER_ADDRESS;
const SERVER_PORT = 'server.port' satisfies typeof semconv.ATTR_SERVER_PORT;

/** Content is set only where its capture is switched on. */
export const SYSTEM_INSTRUCTIONS = 'gen_ai.system_instructions' satisfies typeof semconv.ATTR_GEN_AI_SYSTEM_INSTRUCTIONS;
export const INPUT_MESSAGES = 'gen_ai.input.messages' satisfies typeof semconv.ATTR_GEN_AI_INPUT_MESSAGES;
export const OUTPUT_MESSAGES = 'gen_ai.output.messages' satisfies typeof semconv.ATTR_GEN_AI_OUTPUT_MESSAGES;
export const TOOL_DESCRIPTION = 'gen_ai.tool.description' satisfies typeof semconv.ATTR_GEN_AI_TOOL_DESCRIPTION;
export const TOOL_CALL_ARGUMENTS = 'gen_ai.tool.call.arguments' satisfies typeof semconv.ATTR_GEN_AI_TOOL_CALL_ARGUMENTS;
export const TOOL_CALL_RESULT = 'gen_ai.tool.call.result' satisfies typeof semconv.ATTR_GEN_AI_TOOL_CALL_RESULT;
export const RETRIEVAL_QUERY = 'gen_ai.retrieval.query.text' satisfies typeof semconv.ATTR_GEN_AI_RETRIEVAL_QUERY_TEXT;

export const CHAT = 'chat' satisfies typeof semconv.GEN_AI_OPERATION_NAME_VALUE_CHAT;
export const EXECUTE_TOOL = 'execute_tool' satisfies typeof semconv.GEN_AI_OPERATION_NAME_VALUE_EXECUTE_TOOL;
export const INVOKE_AGENT = 'invoke_agent' satisfies typeof semconv.GEN_AI_OPERATION_NAME_VALUE_INVOKE_AGENT;
export const RETRIEVAL = 'retrieval' satisfies typeof semconv.GEN_AI_OPERATION_NAME_VALUE_RETRIEVAL;
export const SPEECH_TO_TEXT = 'speech_to_text';
export const TEXT_TO_SPEECH = 'text_to_speech';

/** The conventions know these providers by another name than agents. */
const WELL_KNOWN: Readonly<Record<string, string>> = {
  azure_openai: 'azure.ai.openai' satisfies typeof semconv.GEN_AI_PROVIDER_NAME_VALUE_AZURE_AI_OPENAI,
  google: 'gcp.gemini' satisfies typeof semconv.GEN_AI_PROVIDER_NAME_VALUE_GCP_GEMINI,
};

/** @param provider its name in agents */
export function providerName(operation: string, provider: string): string {
  // Google's speech is another service.
  return (operation === CHAT ? WELL_KNOWN[provider] : undefined) ?? provider;
}

/** Names an operation's span: with its target, where that is known. */
export function spanName(operation: string, target: string | undefined): string {
  return target === undefined || target === '' ? operation : `${operation} ${target}`;
}

export function serverOf(address: string | undefined): { readonly [SERVER_ADDRESS]?: string; readonly [SERVER_PORT]?: number } {
  if (address === undefined || !URL.canParse(address)) return {};
  const { hostname, port, protocol } = new URL(address);
  const usual = protocol === 'http:' || protocol === 'ws:' ? 80 : 443;
  return { [SERVER_ADDRESS]: hostname, [SERVER_PORT]: port === '' ? usual : Number(port) };
}
