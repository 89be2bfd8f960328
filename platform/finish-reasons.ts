/** Lists why calls end: resources, rows and REST name the same reasons. */

/** Calls that went as calls go end for these reasons. */
export const endedReasons = [
  'user_ended_call',
  'agent_ended_call',
  'call_transferred',
  'inactivity_timeout',
  'maximum_duration_exceeded',
  'line_busy',
  'no_answer',
] as const;

/** Calls that something went wrong with end for these reasons. */
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

export const finishReasons = [...endedReasons, ...errorReasons] as const;

export type FinishReason = (typeof finishReasons)[number];
