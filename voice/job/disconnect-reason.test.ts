import { DisconnectReason } from '@livekit/rtc-node';
import { expect, it } from 'vitest';

import { finishReasonOfDisconnect } from './disconnect-reason.ts';

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
