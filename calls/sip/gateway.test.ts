import { TwirpError } from 'livekit-server-sdk';
import { expect, it } from 'vitest';

import { dialFailureOf } from './gateway.ts';

const told = (code: string, meta?: Readonly<Record<string, string>>): TwirpError =>
  new TwirpError('', 'as the media server says', 400, code, meta);
const late = (): Error => Object.assign(new Error('too late'), { name: 'TimeoutError' });

it.each([
  ['a SIP status', told('unknown', { sip_status_code: '486', sip_status: 'Busy Here' }), { reason: 'line_busy', status: 486 }],
  ['a SIP status, whatever else is said', told('deadline_exceeded', { sip_status_code: '403' }), { reason: 'carrier_error', status: 403 }],
  ['a status that is none', told('unknown', { sip_status_code: 'soon' }), { reason: 'carrier_error' }],
  ['nobody who answers in time', told('deadline_exceeded'), { reason: 'no_answer' }],
  ['a request that takes too long', late(), { reason: 'no_answer' }],
  ['no gateway', told('unavailable'), { reason: 'carrier_error' }],
  ['no trunk', told('not_found'), { reason: 'carrier_error' }],
  ['no media server', new TypeError('fetch failed'), { reason: 'carrier_error' }],
])('what came of dialling: %s', (_what, error, expected) => {
  const { message, ...failure } = dialFailureOf(error);
  expect(failure).toEqual(expected);
  expect(message).not.toBe('');
});
