import { expect, it } from 'vitest';

import { endingText, microphoneText, refusalText } from './failure.ts';

it('explains a refusal with what to do', () => {
  expect(refusalText(401, undefined)).toMatch(/another one/);
  expect(refusalText(403, { error: 'forbidden', message: 'this API key lacks the permission calls:read' })).toBe(
    'This API key lacks the permission calls:read.',
  );
  expect(refusalText(429, { error: 'concurrent_call_limit_reached', message: 'x' })).toMatch(/when one has ended/);
  expect(refusalText(429, { error: 'rate_limited', message: 'slow down' })).toBe('slow down');
  expect(refusalText(422, { detail: [{ loc: ['body', 'native_llm_dynamic_data', 'who'], msg: 'Field required' }] })).toMatch(/needs: who/);
  expect(refusalText(502, undefined)).toMatch(/502/);
});

it('explains a known finish reason, and names an unknown one', () => {
  expect(endingText('user_ended_call')).toBe('You hung up.');
  expect(endingText('llm_websocket_runtime_error')).toMatch(/language model/);
  expect(endingText('carrier_error')).toMatch(/carrier_error/);
  expect(endingText(undefined)).toMatch(/not over/);
});

it('reports a microphone that cannot be used', () => {
  expect(microphoneText('NotAllowedError')).toMatch(/Allow/);
  expect(microphoneText('OddError')).toMatch(/OddError/);
});
