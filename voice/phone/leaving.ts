/** Why a call by phone is over, from what the gateway says of the one who left. */
import { DisconnectReason } from '@livekit/rtc-node';

import type { FinishReason } from '../../store/index.ts';

/**
 * For a call that was answered, that is a BYE nearly always. The others are of calls that were not: the result of dialling
 * says more, and counts before these.
 *
 * @returns undefined where the reason says nothing of a phone
 */
export function finishReasonOfPhoneLeaving(reason: DisconnectReason | undefined): FinishReason | undefined {
  switch (reason) {
    case DisconnectReason.CLIENT_INITIATED:
      return 'user_ended_call';
    case DisconnectReason.USER_REJECTED:
      return 'line_busy';
    case DisconnectReason.USER_UNAVAILABLE:
      return 'no_answer';
    case DisconnectReason.SIP_TRUNK_FAILURE:
      return 'carrier_error';
    case DisconnectReason.MEDIA_FAILURE:
    case DisconnectReason.CONNECTION_TIMEOUT:
      return 'user_connection_failure';
    default:
      return undefined;
  }
}
