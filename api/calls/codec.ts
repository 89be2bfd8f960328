import { costShown, usageShown } from '../../events/call-usage.ts';
import { durationOf } from '../../calls/lifecycle.ts';
import type { CallLogRows, CallMessage, CallRecord, CallToolCall, CallTurn, UsageLine } from '../../store/index.ts';
import type { CallAnalysisAnswer } from './analysis.ts';
import type { CallAnswer, CallSummary } from './answers.ts';

/** Fields of an answer that no row contains. */
export interface CallExtras {
  readonly accessToken?: string | undefined;
  readonly mediaUrl?: string | undefined;
  readonly recordingUrl?: string | undefined;
}

/** The log of a call that has only been made. */
export const nothingLogged: WholeCall = { messages: [], turns: [], toolCalls: [], usage: [] };

interface WholeCall extends CallLogRows {
  readonly usage: readonly UsageLine[];
}

export function callSummaryToRest(call: CallRecord, extras: CallExtras & Pick<WholeCall, 'usage'>): CallSummary {
  const duration = durationOf(call);
  return {
    _id: call.id,
    call_type: call.callType,
    call_status: call.status,
    call_finish_reason: call.finishReason ?? undefined,
    ai_agent_id: call.agentName,
    ai_agent_name: call.agentDisplayName,
    override_ai_agent_id: call.overrideAgentName ?? undefined,
    agent_revision: call.revision,
    metadata: call.metadata,
    native_llm_dynamic_data: call.dynamicData,
    ...(Object.keys(call.redactions).length > 0 && { redactions: call.redactions }),
    created_at: call.createdAt.toISOString(),
    call_start_time: call.startedAt?.toISOString(),
    call_end_time: call.endedAt?.toISOString(),
    call_duration_seconds: duration === undefined ? undefined : duration / 1000,
    recorded_call_audio_url: extras.recordingUrl,
    access_token: extras.accessToken,
    media_url: extras.mediaUrl,
    cost: costShown(extras.usage) ?? undefined,
    ...(call.direction !== null && {
      direction: call.direction,
      from_number: call.fromNumber ?? undefined,
      to_number: call.toNumber ?? undefined,
      sip_call_id: call.sipCallId ?? undefined,
    }),
  };
}

export function callToRest(
  call: CallRecord,
  extras: CallExtras & WholeCall & { readonly analysis?: CallAnalysisAnswer | undefined },
): CallAnswer {
  const spokenAt = new Map(extras.messages.map((message) => [message.seq, message.spokenAt]));
  return {
    ...callSummaryToRest(call, extras),
    messages: extras.messages.map((message) => messageToRest(message, call)),
    turns: extras.turns.map((turn) => turnToRest(turn, spokenAt.get(turn.seq) ?? null, call)),
    tool_calls: extras.toolCalls.map((toolCall) => toolCallToRest(toolCall, call)),
    usage: usageShown(extras.usage),
    post_call_analysis: extras.analysis,
  };
}

type TalkingAgent = Pick<CallRecord, 'talkingAgent'>;

/** @param call the call; rows without an agent are of the one that it began with */
export function messageToRest(
  { role, agent, content, spokenAt, interrupted, sources }: CallMessage,
  call: TalkingAgent,
): CallAnswer['messages'][number] {
  return {
    role,
    ...(role === 'agent' && { agent_name: agent ?? call.talkingAgent }),
    content,
    timestamp: spokenAt.toISOString(),
    interrupted,
    ...(sources !== null && { sources: sources as CallAnswer['messages'][number]['sources'] }),
  };
}

/** @param spokenAt when the answer was begun to be said; null where nothing of it was heard */
export function turnToRest(
  { agent, eou, stt, llmTtft, ttsTtfb, v2v }: CallTurn,
  spokenAt: Date | null,
  call: TalkingAgent,
): CallAnswer['turns'][number] {
  return {
    timestamp: spokenAt?.toISOString() ?? null,
    agent_name: agent ?? call.talkingAgent,
    eou,
    stt,
    llm_ttft: llmTtft,
    tts_ttfb: ttsTtfb,
    v2v,
  };
}

export function toolCallToRest(
  { agent, name, arguments: given, result, failed, beganAt, durationMs }: CallToolCall,
  call: TalkingAgent,
): CallAnswer['tool_calls'][number] {
  return {
    name,
    agent_name: agent ?? call.talkingAgent,
    ...(given !== null && { arguments: given }),
    result,
    is_error: failed,
    timestamp: beganAt.toISOString(),
    duration_ms: durationMs,
  };
}
