/** Decides why a call ends whose user is no longer connected. */
import { DisconnectReason } from '@livekit/rtc-node';

import type { CallRecord, FinishReason } from '../../store/index.ts';

/**
 * Returns the finish reason for a disconnect.
 * @param options.begun the agent has begun to speak: whoever leaves a web call before has heard nothing
 * @returns undefined when the call goes on: the same user has joined again, and this connection was replaced
 */
export function finishReasonOfDisconnect(
  reason: DisconnectReason | undefined,
  { callType, begun }: { readonly callType: CallRecord['callType']; readonly begun: boolean },
): FinishReason | undefined {
  switch (reason) {
    // A phone call ends so with a BYE.
    case DisconnectReason.CLIENT_INITIATED:
      return callType === 'web_call' && !begun ? 'user_connection_failure' : 'user_ended_call';
    case DisconnectReason.USER_REJECTED:
      return callType === 'phone_call' ? 'line_busy' : 'user_ended_call';
    case DisconnectReason.DUPLICATE_IDENTITY:
      return undefined;
    // The room was closed or the server stopped: not the user's doing.
    case DisconnectReason.ROOM_DELETED:
    case DisconnectReason.ROOM_CLOSED:
    case DisconnectReason.PARTICIPANT_REMOVED:
    case DisconnectReason.SERVER_SHUTDOWN:
      return 'native_platform_internal_error';
    case DisconnectReason.USER_UNAVAILABLE:
      return 'no_answer';
    case DisconnectReason.SIP_TRUNK_FAILURE:
      return 'carrier_error';
    default:
      return 'user_connection_failure';
  }
}
