/** The fields of a call in REST that the pages show. */
import type { TurnLatencies } from '../../../calls/turn-latencies.ts';

export interface Source {
  readonly knowledge_base: string;
  readonly document_id: string;
  readonly chunk_id: string;
  readonly filename: string;
  readonly score: number;
}

export interface Message {
  readonly role: 'agent' | 'user';
  readonly content: string;
  readonly timestamp: string;
  readonly interrupted: boolean;
  /** Passages of the knowledge base that the answer rests on. */
  readonly sources?: readonly Source[];
}

export interface ToolCall {
  readonly name: string;
  /** Absent where the arguments are too large. */
  readonly arguments?: Readonly<Record<string, unknown>>;
  readonly result: string;
  readonly is_error: boolean;
  readonly timestamp: string;
  readonly duration_ms: number;
}

export interface Turn extends TurnLatencies {
  /** Time of the turn's answer; null where nothing of that was heard. */
  readonly timestamp: string | null;
}

export interface Analysis {
  readonly status: 'pending' | 'processing' | 'completed' | 'failed';
  readonly items: readonly {
    readonly name: string;
    readonly result: string | number | boolean | null;
    readonly error: { readonly message: string } | null;
  }[];
  readonly error: { readonly message: string } | null;
}

/** A delivery of a webhook event. */
export interface Delivery {
  readonly id: string;
  readonly event_name: string;
  readonly status: 'pending' | 'retrying' | 'paused' | 'succeeded' | 'failed' | 'skipped';
  readonly reason: string | null;
  readonly attempts: number;
  readonly created_at: string;
}

/** The sum of the providers' prices. */
export interface Cost {
  /** A decimal number as a text. */
  readonly amount: string;
  /** Code of ISO 4217. */
  readonly currency: string;
}

export type ShownStatus = 'registered' | 'ongoing' | 'ended' | 'error';

export interface ShownCallSummary {
  readonly _id: string;
  readonly call_type: 'web_call' | 'phone_call';
  readonly call_status: ShownStatus;
  readonly call_finish_reason?: string;
  readonly ai_agent_id: string;
  readonly ai_agent_name: string;
  /** The agent that talks in its stead. */
  readonly override_ai_agent_id?: string;
  readonly created_at: string;
  readonly call_start_time?: string;
  readonly call_duration_seconds?: number;
  readonly direction?: 'inbound' | 'outbound';
  readonly from_number?: string;
  readonly to_number?: string;
  /** The cost so far; absent where a model has no price. */
  readonly cost?: Cost;
}

export interface ShownCall extends ShownCallSummary {
  readonly access_token?: string;
  readonly media_url?: string;
  readonly messages: readonly Message[];
  readonly turns: readonly Turn[];
  readonly tool_calls: readonly ToolCall[];
  /** Absent until the call is over, and where its agent asks for no analysis. */
  readonly post_call_analysis?: Analysis;
}

export function isOver({ call_status: status }: ShownCallSummary): boolean {
  return status === 'ended' || status === 'error';
}

/** Returns whether nothing of the call changes any more but its recording and its deliveries. */
export function isComplete(call: ShownCall): boolean {
  const status = call.post_call_analysis?.status;
  return isOver(call) && status !== 'pending' && status !== 'processing';
}

/** Returns the first words of the user, who says why they call; undefined where they have said nothing. */
export function firstWords({ messages }: Pick<ShownCall, 'messages'>): string | undefined {
  return messages.find(({ role }) => role === 'user')?.content;
}

/** Returns the time from which the times of a call count. */
export function startOf({ call_start_time: started, created_at: created }: ShownCallSummary): number {
  return Date.parse(started ?? created);
}
