import { describe, expect, it } from 'vitest';

import { reasonOfFailure } from './failures.ts';

describe('the failure of a provider', () => {
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
    expect(reasonOfFailure({ part, kind }, { answeredBefore })).toBe(reason);
  });
});
