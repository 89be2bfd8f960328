/** Attributes that the span of a request to OpenAI's `/chat/completions` takes from it. */
import { parseJson } from '../../platform/json.ts';
import { capturesContent, type Attributes } from '../../platform/telemetry/tracing.ts';
import { messagesText, textPart, valueText, type ContentMessage } from '../../platform/telemetry/gen-ai/content.ts';
import * as genAi from '../../platform/telemetry/gen-ai/conventions.ts';

export interface ChatRequest {
  readonly temperature?: unknown;
  readonly max_tokens?: unknown;
  readonly max_completion_tokens?: unknown;
  readonly response_format?: unknown;
  readonly messages?: readonly SentMessage[] | undefined;
}
interface SentMessage {
  readonly role: string;
  readonly content?: string | readonly { readonly text?: string }[] | null;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly name: string; readonly arguments: string } }[];
}

export function chatAttributes(request: ChatRequest): Attributes {
  const { temperature, max_tokens, max_completion_tokens, response_format } = request;
  const maxTokens = max_completion_tokens ?? max_tokens;
  return {
    [genAi.OUTPUT_TYPE]: response_format === undefined ? 'text' : 'json',
    ...(typeof temperature === 'number' && { [genAi.REQUEST_TEMPERATURE]: temperature }),
    ...(typeof maxTokens === 'number' && { [genAi.REQUEST_MAX_TOKENS]: maxTokens }),
    ...(capturesContent() && messageAttributes(request.messages ?? [])),
  };
}

function messageAttributes(messages: readonly SentMessage[]): Attributes {
  const instructions = messages.filter(({ role }) => role === 'system');
  const said = messages.filter(({ role }) => role !== 'system');
  return {
    ...(instructions.length > 0 && { [genAi.SYSTEM_INSTRUCTIONS]: valueText(instructions.flatMap(messageParts)) }),
    [genAi.INPUT_MESSAGES]: messagesText(said.map((message): ContentMessage => ({ role: message.role, parts: messageParts(message) }))),
  };
}

function messageParts({ content, tool_call_id: answers, tool_calls: calls = [] }: SentMessage): readonly object[] {
  const text = typeof content === 'string' ? content : (content ?? []).map((part) => part.text ?? '').join('');
  if (answers !== undefined) return [{ type: 'tool_call_response', id: answers, response: parseJson(text, text) }];
  return [
    ...(text === '' ? [] : [textPart(text)]),
    ...calls.map(({ id, function: called }) => ({
      type: 'tool_call',
      id,
      name: called.name,
      arguments: parseJson(called.arguments, called.arguments),
    })),
  ];
}
