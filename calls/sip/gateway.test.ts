import { TwirpError } from 'livekit-server-sdk';
import { expect, it } from 'vitest';

import { dialFailureOf, dialFailureOfStatus, type DialFailure } from './gateway.ts';

const twirpError = (code: string, meta?: Readonly<Record<string, string>>, message = 'as the media server says'): TwirpError =>
  new TwirpError('', message, 400, code, meta);
const canceled = (message: string): TwirpError => twirpError('canceled', {}, message);
const late = (): Error => Object.assign(new Error('too late'), { name: 'TimeoutError' });

it.each([
  ['a SIP status', twirpError('unknown', { sip_status_code: '486', sip_status: 'Busy Here' }), { reason: 'line_busy', status: 486 }],
  [
    'a SIP status, whatever else is said',
    twirpError('deadline_exceeded', { sip_status_code: '403' }),
    { reason: 'carrier_error', status: 403 },
  ],
  ['a status that is none', twirpError('unknown', { sip_status_code: 'soon' }), { reason: 'carrier_error' }],
  ['no answer in time', twirpError('deadline_exceeded'), { reason: 'no_answer' }],
  // These are the messages of livekit/sip.
  ['a telephone that rang as long as it may', canceled('sip request timed out'), { reason: 'no_answer' }],
  [
    'a network that let it ring, and fell silent',
    canceled('transaction failed to complete (2 intermediate responses)'),
    { reason: 'no_answer' },
  ],
  ['a trunk that says nothing', canceled('transaction failed to complete (0 intermediate responses)'), { reason: 'carrier_error' }],
  ['a gateway that stops', canceled('service shutting down'), { reason: 'carrier_error' }],
  ['a request that takes too long', late(), { reason: 'no_answer' }],
  ['no gateway', twirpError('unavailable'), { reason: 'carrier_error' }],
  ['no trunk', twirpError('not_found'), { reason: 'carrier_error' }],
  ['no media server', new TypeError('fetch failed'), { reason: 'carrier_error' }],
])('what came of dialling: %s', (_what, error, expected) => {
  const { message, ...failure } = dialFailureOf(error);
  expect(failure).toEqual(expected);
  expect(message).not.toBe('');
});

const table: readonly (readonly [DialFailure, readonly (number | undefined)[]])[] = [
  ['line_busy', [486, 600]],
  ['no_answer', [408, 480]],
  ['carrier_error', [401, 403, 407, 500, 502, 503, 504, 599, undefined, 0, 302]],
  ['call_failed', [400, 402, 404, 406, 410, 484, 487, 488, 603, 604, 606]],
];

it.each(table.flatMap(([reason, statuses]) => statuses.map((status) => [status, reason] as const)))('SIP %s is %s', (status, reason) => {
  expect(dialFailureOfStatus(status)).toBe(reason);
});
