/** Writes a conversation as the `messages` of OpenAI's `/chat/completions`. */
import type { JsonObject } from '../../../platform/json.ts';
import type { AnswerRequest, HistoryItem } from './history.ts';

type Message = Extract<HistoryItem, { readonly type: 'message' }>;
type Call = Extract<HistoryItem, { readonly type: 'call' }>;
type Result = Extract<HistoryItem, { readonly type: 'result' }>;
type Said = readonly (Message | Call)[];

/** Keys of the vendors that want to see it again; other servers may refuse what they don't know. */
const EXTRA_CONTENT = ['google', 'livekit', 'xai'] as const;

/**
 * The words and the calls of one answer are one message, and the results of these follow it. A call without a result is left out, and so
 * is a result without a call: providers refuse both.
 */
export function chatMessagesOf({ instructions, history }: Pick<AnswerRequest, 'instructions' | 'history'>): readonly JsonObject[] {
  const said = history.filter((item) => item.type !== 'result');
  const turns = [...Map.groupBy(said, ({ answer, id }) => answer ?? id).values()];
  // The last call has the result where an id comes twice.
  const turnByCallId = new Map(turns.flatMap((turn) => callsOf(turn).map(({ callId }) => [callId, turn] as const)));
  const results = Map.groupBy(
    history.filter((item) => item.type === 'result'),
    ({ callId }) => turnByCallId.get(callId),
  );
  return [
    ...(instructions === '' ? [] : [{ role: 'system', content: instructions }]),
    ...turns.flatMap((turn) => messagesOf(turn, results.get(turn) ?? [])),
  ];
}

function messagesOf(turn: Said, results: readonly Result[]): readonly JsonObject[] {
  const said = turn.filter((item) => item.type === 'message');
  const calls = callsOf(turn).filter(({ callId }) => results.some((result) => result.callId === callId));
  if (said.length + calls.length === 0) return [];
  const message = {
    role: said[0]?.role === 'user' ? 'user' : 'assistant',
    ...(said.length > 0 && { content: said.map(({ text }) => text).join('\n') }),
    ...extraContentOf(said[0]),
    ...(calls.length > 0 && { tool_calls: calls.map(toolCallOf) }),
  };
  return [message, ...results.map(({ callId, output }) => ({ role: 'tool', tool_call_id: callId, content: output }))];
}

const callsOf = (turn: Said): readonly Call[] => turn.filter((item) => item.type === 'call');

const toolCallOf = (call: Call): JsonObject => ({
  type: 'function',
  id: call.callId,
  function: { name: call.name, arguments: call.args },
  ...extraContentOf(call),
});

function extraContentOf({ extra = {} }: Partial<Pick<Message | Call, 'extra'>> = {}): JsonObject {
  const kept = EXTRA_CONTENT.flatMap((vendor) => (extra[vendor] ? [[vendor, extra[vendor]] as const] : []));
  return kept.length === 0 ? {} : { extra_content: Object.fromEntries(kept) };
}
