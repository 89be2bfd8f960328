/**
 * The states of a call:
 *
 *   registered ──start──▶ ongoing ──end──▶ ended | error
 *        └──────────────end──────────────▶ ended | error
 *
 * The reason decides between `ended` and `error`. Both are final: the first reason counts.
 */
export const callStatuses = ['registered', 'ongoing', 'ended', 'error'] as const;

export type CallStatus = (typeof callStatuses)[number];

/** Reasons of calls that ended normally. */
export const endedReasons = [
  'user_ended_call',
  'agent_ended_call',
  'call_transferred',
  'inactivity_timeout',
  'maximum_duration_exceeded',
  'line_busy',
  'no_answer',
] as const;

/** Reasons of calls that failed. */
export const errorReasons = [
  'concurrent_call_limit_reached',
  'invalid_payment',
  'potential_scam_detected',
  'inbound_webhook_error',
  'call_failed',
  'llm_websocket_initialization_error',
  'llm_websocket_connection_lost',
  'llm_websocket_runtime_error',
  'llm_websocket_payload_corruption',
  'carrier_error',
  'no_audio_input',
  'speech_recognition_error',
  'native_platform_internal_error',
  'unknown_error',
  'user_connection_failure',
] as const;

export type FinishReason = (typeof endedReasons)[number] | (typeof errorReasons)[number];

export const finishReasons: readonly FinishReason[] = [...endedReasons, ...errorReasons];

export function isTerminal(status: CallStatus): boolean {
  return status === 'ended' || status === 'error';
}

/** Returns the final status of a call with this reason. */
export function terminalStatusOf(reason: FinishReason): 'ended' | 'error' {
  return (endedReasons as readonly FinishReason[]).includes(reason) ? 'ended' : 'error';
}
