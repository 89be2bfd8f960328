/** What lets the user of a web call into its room, and nowhere else. */
import { AccessToken, RoomConfiguration, TrackSource } from 'livekit-server-sdk';

import type { MediaServer } from './media-server.ts';
import { roomOf, userIdentityOf } from './names.ts';
import { roomOptionsOf } from './room-options.ts';

/** How long a token opens the room of its call, in milliseconds. Who is in the room stays. */
export const tokenTtlMs = 600_000;

export interface TokenOptions {
  readonly callId: string;
  readonly expiresAt: Date;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * A token for the user of a call. It brings the room into being, and the agent into the room; the user may be heard and hear,
 * and nothing else: no pictures, no data, no look at other rooms, no change of what others see of the user.
 */
export async function accessTokenOf(
  server: Pick<MediaServer, 'apiKey' | 'apiSecret' | 'agentName'>,
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
  token.roomConfig = new RoomConfiguration(roomOptionsOf(server, callId));
  return token.toJwt();
}
