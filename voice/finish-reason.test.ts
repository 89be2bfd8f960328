import { DisconnectReason } from '@livekit/rtc-node';
import { describe, expect, it } from 'vitest';

import { FinishDecision, finishReasonOfDisconnect, finishReasonOfProviderFailure } from './finish-reason.ts';

it('keeps the first reason', async () => {
  const decision = new FinishDecision();
  expect([decision.reason, decision.signal.aborted]).toEqual([undefined, false]);
  const farewell = async (): Promise<void> => undefined;
  expect(decision.decide('agent_ended_call', farewell)).toBe(true);
  expect(decision.decide('user_ended_call')).toBe(false);
  expect(await decision.made()).toEqual({ reason: 'agent_ended_call', farewell });
  expect(decision.signal.aborted).toBe(true);
});

it.each([
  [DisconnectReason.CLIENT_INITIATED, 'user_ended_call', 'user_ended_call'],
  [DisconnectReason.USER_REJECTED, 'user_ended_call', 'line_busy'],
  [DisconnectReason.USER_UNAVAILABLE, 'no_answer', 'no_answer'],
  [DisconnectReason.SIP_TRUNK_FAILURE, 'carrier_error', 'carrier_error'],
  [DisconnectReason.DUPLICATE_IDENTITY, undefined, undefined],
  [DisconnectReason.ROOM_DELETED, 'native_platform_internal_error', 'native_platform_internal_error'],
  [DisconnectReason.SIGNAL_CLOSE, 'user_connection_failure', 'user_connection_failure'],
  [DisconnectReason.MEDIA_FAILURE, 'user_connection_failure', 'user_connection_failure'],
  [undefined, 'user_connection_failure', 'user_connection_failure'],
])('disconnect reason %s is %s of a web call, %s of a phone call', (reason, web, phone) => {
  expect(finishReasonOfDisconnect(reason, { callType: 'web_call', begun: true })).toBe(web);
  expect(finishReasonOfDisconnect(reason, { callType: 'phone_call', begun: true })).toBe(phone);
});

it('whoever leaves a web call before it begins was not connected', () => {
  const left = (callType: 'web_call' | 'phone_call') =>
    finishReasonOfDisconnect(DisconnectReason.CLIENT_INITIATED, { callType, begun: false });
  expect([left('web_call'), left('phone_call')]).toEqual(['user_connection_failure', 'user_ended_call']);
});

describe('a provider failure', () => {
  it.each([
    ['llm', 'refused', false, 'llm_websocket_initialization_error'],
    ['llm', 'refused', true, 'llm_websocket_runtime_error'],
    ['llm', 'unreachable', false, 'llm_websocket_initialization_error'],
    ['llm', 'unreachable', true, 'llm_websocket_connection_lost'],
    ['llm', 'connection_lost', false, 'llm_websocket_connection_lost'],
    ['llm', 'runtime', false, 'llm_websocket_runtime_error'],
    ['llm', 'payload', true, 'llm_websocket_payload_corruption'],
    ['stt', 'refused', false, 'speech_recognition_error'],
    ['stt', 'runtime', true, 'speech_recognition_error'],
    ['tts', 'connection_lost', true, 'native_platform_internal_error'],
  ] as const)('%s %s, answered before: %s → %s', (part, kind, answeredBefore, reason) => {
    expect(finishReasonOfProviderFailure({ part, kind }, { answeredBefore })).toBe(reason);
  });
});
