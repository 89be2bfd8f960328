/** Says for both pages where a call stands and why it ended. */
import type { ShownCallSummary, ShownStatus } from './record.ts';

/** Texts by `call_status`. */
export const STATUS_TEXTS: Readonly<Record<ShownStatus, string>> = {
  registered: 'Not started',
  ongoing: 'In progress',
  ended: 'Ended',
  error: 'Failed',
};

/** Texts by `call_finish_reason`. */
export const REASON_TEXTS: Readonly<Record<string, string>> = {
  user_ended_call: 'User hung up',
  agent_ended_call: 'Agent hung up',
  call_transferred: 'Transferred',
  inactivity_timeout: 'Silent for too long',
  maximum_duration_exceeded: 'Maximum duration reached',
  concurrent_call_limit_reached: 'Too many calls at once',
  invalid_payment: 'Over the budget',
  potential_scam_detected: 'Suspected scam',
  inbound_webhook_error: 'Inbound webhook failed',
  line_busy: 'Line busy',
  call_failed: 'Not put through',
  no_answer: 'No answer',
  llm_websocket_initialization_error: 'Language model not reachable',
  llm_websocket_connection_lost: 'Language model stopped answering',
  llm_websocket_runtime_error: 'Language model failed',
  llm_websocket_payload_corruption: 'Language model sent an unreadable answer',
  carrier_error: 'Carrier failed',
  no_audio_input: 'No sound from the microphone',
  speech_recognition_error: 'Speech recognition failed',
  native_platform_internal_error: 'Internal error',
  unknown_error: 'Unknown error',
  user_connection_failure: 'Connection failed',
};

/** `live` and `failed` stand out, `unusual` a little; most calls end because somebody hangs up. */
export type OutcomeTone = 'live' | 'failed' | 'unusual' | 'usual';

export interface Outcome {
  readonly text: string;
  /** REST's code. */
  readonly code: string;
  readonly tone: OutcomeTone;
}

export function outcomeOf({ call_status: status, call_finish_reason: reason }: ShownCallSummary): Outcome {
  if (reason === undefined) return { text: STATUS_TEXTS[status], code: status, tone: status === 'ongoing' ? 'live' : 'usual' };
  return { text: REASON_TEXTS[reason] ?? reason, code: reason, tone: toneOf(status, reason) };
}

function toneOf(status: ShownStatus, reason: string): OutcomeTone {
  if (status === 'error') return 'failed';
  return reason === 'user_ended_call' || reason === 'agent_ended_call' ? 'usual' : 'unusual';
}

/** Returns the outcome in words for the person who was in the call. */
export function endingOf(call: ShownCallSummary): Outcome {
  const outcome = outcomeOf(call);
  return outcome.code === 'user_ended_call' ? { ...outcome, text: 'You hung up' } : outcome;
}
