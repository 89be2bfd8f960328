/** Why a call is over, from what the media server says of the one who left. */
import { DisconnectReason } from '@livekit/rtc-node';

import type { FinishReason } from '../../store/index.ts';

/**
 * @returns undefined where somebody is still there: the same user came again, and this connection was let go
 */
export function finishReasonOfLeaving(reason: DisconnectReason | undefined): FinishReason | undefined {
  switch (reason) {
    case DisconnectReason.CLIENT_INITIATED:
    case DisconnectReason.USER_REJECTED:
      return 'user_ended_call';
    case DisconnectReason.DUPLICATE_IDENTITY:
      return undefined;
    // Somebody else closed the room, or the server went away: nothing that the user did.
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
