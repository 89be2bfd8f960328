import { expect, it } from 'vitest';

import { microphoneText, refusalText } from './failure.ts';

it('explains a refusal with what to do', () => {
  expect(refusalText(401, undefined)).toMatch(/another one/);
  expect(refusalText(403, { error: 'forbidden', message: 'this API key lacks the permission calls:read' })).toBe(
    'This API key lacks the permission calls:read.',
  );
  expect(refusalText(429, { error: 'concurrent_call_limit_reached', message: 'x' })).toMatch(/when one has ended/);
  expect(refusalText(429, { error: 'rate_limited', message: 'slow down' })).toBe('slow down');
  expect(refusalText(422, { detail: [{ loc: ['body', 'native_llm_dynamic_data', 'caller_name'], msg: 'Field required' }] })).toBe(
    'Caller name: Field required.',
  );
  expect(refusalText(502, undefined)).toMatch(/502/);
});

it('reports a microphone that cannot be used', () => {
  expect(microphoneText('NotAllowedError')).toMatch(/Allow/);
  expect(microphoneText('OddError')).toMatch(/OddError/);
});
