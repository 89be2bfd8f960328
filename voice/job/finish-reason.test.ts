import { DisconnectReason } from '@livekit/rtc-node';
import { expect, it } from 'vitest';

import { finishReasonOfLeaving } from './finish-reason.ts';

it.each([
  [DisconnectReason.CLIENT_INITIATED, 'user_ended_call'],
  [DisconnectReason.DUPLICATE_IDENTITY, undefined],
  [DisconnectReason.ROOM_DELETED, 'native_platform_internal_error'],
  [DisconnectReason.SIGNAL_CLOSE, 'user_connection_failure'],
  [undefined, 'user_connection_failure'],
])('leaving with %s is %s', (reason, expected) => {
  expect(finishReasonOfLeaving(reason)).toBe(expected);
});
