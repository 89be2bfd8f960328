/** What lets the user of a web call into its room, and nowhere else. */
import { AccessToken, TrackSource } from 'livekit-server-sdk';

import type { MediaServer } from './media-server.ts';
import { roomOf, userIdentityOf } from './names.ts';

/** How long a token opens the room of its call, in milliseconds. Who is in the room stays. */
export const TOKEN_TTL_MS = 600_000;

export interface TokenOptions {
  readonly callId: string;
  readonly expiresAt: Date;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * A token for the user of a call, for a room that is there. It makes none and calls no agent into one: once the call is over and its room is
 * closed, it opens nothing. The user may be heard and hear, and nothing else: no pictures, no data, no look at other rooms, no change of what others see of the user.
 */
export async function accessTokenOf(
  server: Pick<MediaServer, 'apiKey' | 'apiSecret'>,
  { callId, expiresAt, now }: TokenOptions,
): Promise<string> {
  const seconds = Math.max(1, Math.floor((expiresAt.getTime() - now) / 1000));
  const token = new AccessToken(server.apiKey, server.apiSecret, { identity: userIdentityOf(callId), ttl: seconds });
  token.addGrant({
    room: roomOf(callId),
    roomJoin: true,
    roomCreate: false,
    roomList: false,
    roomAdmin: false,
    roomRecord: false,
    canPublish: true,
    canPublishSources: [TrackSource.MICROPHONE],
    canPublishData: false,
    canSubscribe: true,
    canUpdateOwnMetadata: false,
    hidden: false,
  });
  return token.toJwt();
}
