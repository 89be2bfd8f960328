import { describe, expect, it } from 'vitest';

import { FinishDecision, finishReasonOfProviderFailure } from './finish-reason.ts';

it('keeps the first reason', async () => {
  const decision = new FinishDecision();
  expect([decision.reason, decision.signal.aborted]).toEqual([undefined, false]);
  const farewell = async (): Promise<void> => undefined;
  expect(decision.decide('agent_ended_call', farewell)).toBe(true);
  expect(decision.decide('user_ended_call')).toBe(false);
  expect(await decision.made()).toEqual({ reason: 'agent_ended_call', farewell });
  expect(decision.signal.aborted).toBe(true);
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
