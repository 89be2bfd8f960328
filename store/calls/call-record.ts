/** Types of calls, for writing and for reading. */
import type { FinishReason } from '../../platform/finish-reasons.ts';
import type { CallStatus } from './call-state.ts';
import type { Spending } from './spending.ts';

export type CallType = 'web_call' | 'phone_call';
export type CallDirection = 'inbound' | 'outbound';
type Values = Readonly<Record<string, unknown>>;

export interface CallRef {
  readonly org: string;
  readonly id: string;
}

/** What makes a call one of a test: it is in no list, counts for no limit and has no events. */
export interface TestOfCall {
  readonly runId: string;
  readonly testName: string;
  /** Answers in place of tools, as the AgentTest has them. */
  readonly tools: readonly unknown[];
}

/** An agent that a call may be handed over to, with the revision that it serves the call with. */
export interface CallAgent {
  readonly agentName: string;
  readonly revision: string;
  readonly canary: boolean;
}

export interface NewCall extends CallRef {
  readonly callType: CallType;
  /** Of a phone call. */
  readonly direction?: CallDirection;
  /** By its name in REST: of the agent that was asked for, and of the one that talks in its stead. */
  readonly agentName: string;
  readonly agentDisplayName: string;
  readonly overrideAgentName?: string | undefined;
  /** The configuration of the one that talks. */
  readonly revision: string;
  /** The revision was tried on this call; false by default. */
  readonly canary?: boolean;
  /** The agents that it may be handed over to. */
  readonly others?: readonly CallAgent[];
  readonly workspace?: string | undefined;
  readonly maxDurationMs: number;
  /** Of its agent, for the day since then: a call too many is not made. Calls of tests have none. */
  readonly budget?: Omit<Spending, 'org' | 'agentName'> & { readonly micros: bigint };
  /** As the agent wants it; true by default. An organisation that has switched recordings off has none. */
  readonly recordingEnabled?: boolean;
  /** How long the agent keeps recordings, in milliseconds; as long as the organisation by default. */
  readonly recordingRetentionMs?: number | undefined;
  /** Of the media server; unique in the deployment. */
  readonly room: string;
  /** How long the token of a web call is good, in milliseconds. */
  readonly tokenTtlMs?: number;
  readonly fromNumber?: string;
  readonly toNumber?: string;
  readonly sipCallId?: string;
  readonly metadata?: Values;
  readonly dynamicData?: Values;
  readonly createdBy?: string | null;
  readonly createdByKey?: string;
  /**
   * How many web calls of the organisation may wait for their users with this one, in percent of the live calls that it may have; of its key
   * half as many. Any number by default.
   */
  readonly unjoinedPercent?: number | undefined;
  /** In the course of which trace it was registered: W3C Trace Context. */
  readonly traceparent?: string | undefined;
  readonly test?: TestOfCall;
}

export interface StoredRecording {
  /** Its key in the file storage. */
  readonly key: string;
  readonly bytes: number;
  readonly durationMs: number;
}

export interface CallRecord extends CallRef {
  readonly callType: CallType;
  readonly direction: CallDirection | null;
  readonly status: CallStatus;
  readonly finishReason: FinishReason | null;
  readonly agentName: string;
  readonly agentDisplayName: string;
  readonly overrideAgentName: string | null;
  /** Whose revision it is. */
  readonly talkingAgent: string;
  readonly revision: string;
  readonly canary: boolean;
  readonly workspace: string | null;
  readonly maxDurationMs: number;
  readonly room: string;
  readonly tokenExpiresAt: Date | null;
  readonly fromNumber: string | null;
  readonly toNumber: string | null;
  readonly sipCallId: string | null;
  readonly metadata: Values;
  readonly dynamicData: Values;
  /** Values that were taken out of what is stored of it, by kind. */
  readonly redactions: Readonly<Record<string, number>>;
  readonly createdBy: string | null;
  readonly createdByKey: string | null;
  readonly traceparent: string | null;
  readonly createdAt: Date;
  /** The first media; null before. */
  readonly startedAt: Date | null;
  readonly endedAt: Date | null;
  readonly jobId: string | null;
  readonly jobSeenAt: Date | null;
  /** Decided when it was registered. */
  readonly recordingEnabled: boolean;
  readonly recording: StoredRecording | null;
  readonly test: TestOfCall | null;
}

/** What the statements below select, in the words of {@link Row}. */
export const CALL_COLUMNS = `org, id, call_type AS "callType", direction, status, finish_reason AS "finishReason", agent_name AS "agentName",
  agent_display_name AS "agentDisplayName", override_agent_name AS "overrideAgentName", talking_agent AS "talkingAgent", revision, canary, workspace,
  max_duration_ms AS "maxDurationMs", room, token_expires_at AS "tokenExpiresAt", from_number AS "fromNumber", to_number AS "toNumber",
  sip_call_id AS "sipCallId", metadata, dynamic_data AS "dynamicData", redactions, created_by AS "createdBy", created_by_key AS "createdByKey", traceparent, created_at AS "createdAt",
  started_at AS "startedAt", ended_at AS "endedAt", job_id AS "jobId", job_seen_at AS "jobSeenAt", recording_enabled AS "recordingEnabled",
  test, recording_key AS "recordingKey", recording_bytes::float8 AS "recordingBytes", recording_duration_ms::float8 AS "recordingDurationMs"`;

export interface Row extends Omit<CallRecord, 'recording'> {
  readonly recordingKey: string | null;
  readonly recordingBytes: number | null;
  readonly recordingDurationMs: number | null;
}

export function toCall({ recordingKey, recordingBytes, recordingDurationMs, ...call }: Row): CallRecord {
  const recording = recordingKey === null ? null : { key: recordingKey, bytes: recordingBytes ?? 0, durationMs: recordingDurationMs ?? 0 };
  return { ...call, recording };
}
