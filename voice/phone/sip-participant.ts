/** Reads the phone of a call from the attributes that the gateway gives its participant. */
import { ParticipantKind, type RemoteParticipant } from '@livekit/rtc-node';

/** Longest call id that is kept. */
const MAX_ID_LENGTH = 256;

export interface SipParticipant {
  /** Identity of the participant. */
  readonly identity: string;
  /** Id of the SIP call, the same after a repeated INVITE. */
  readonly sipCallId: string;
  /** The number of ours, in E.164. */
  readonly ownNumber: string;
  /** Number of the other side; empty for a caller who withholds it. */
  readonly otherNumber: string;
}

export type Described = Pick<RemoteParticipant, 'identity' | 'attributes' | 'kind'>;

/** Returns the phone of a participant; undefined for one that is no phone, or without the number that was called. */
export function sipParticipantOf({ identity, attributes, kind }: Described): SipParticipant | undefined {
  if (kind !== ParticipantKind.SIP) return undefined;
  const ownNumber = asE164(attributes['sip.trunkPhoneNumber']);
  // The gateway passes the id of the INVITE on, or the media server has given it one.
  const sipCallId = attributes['sip.callIDFull'] || attributes['sip.callID'];
  if (ownNumber === undefined || sipCallId === undefined || sipCallId === '') return undefined;
  const other = attributes['sip.phoneNumber'] ?? '';
  return {
    identity,
    sipCallId: sipCallId.slice(0, MAX_ID_LENGTH),
    ownNumber,
    otherNumber: (asE164(other) ?? other).slice(0, MAX_ID_LENGTH),
  };
}

/** Makes a number E.164: carriers send numbers with and without a plus, and with separators. */
function asE164(number: string | undefined): string | undefined {
  const bare = number?.replace(/[\s().-]/g, '').replace(/^00/, '+') ?? '';
  const plus = bare.startsWith('+') ? bare : `+${bare}`;
  return /^\+[1-9]\d{1,14}$/.test(plus) ? plus : undefined;
}
