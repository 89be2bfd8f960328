/** The tokens with which people join the room of a call: the user of a web call, and those who hear a call or take it over. */
import { AccessToken, TrackSource } from 'livekit-server-sdk';

import type { MediaServer } from './media-server.ts';
import { roomOf, userIdentityOf } from './names.ts';

/** How long a token admits to the room of its call, in milliseconds. A user who has joined stays. */
export const TOKEN_TTL_MS = 600_000;

export interface TokenOptions {
  readonly callId: string;
  readonly expiresAt: Date;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The user may press keys, which are data. */
  readonly keys?: boolean;
}

/**
 * A token for an existing room: it creates none and dispatches no agent, so that it is worthless once the call is over. The user may publish a
 * microphone and subscribe, and nothing else: no video, no data, no other rooms, no change of name or metadata.
 */
export async function accessTokenOf(
  server: Pick<MediaServer, 'apiKey' | 'apiSecret'>,
  { callId, expiresAt, now, keys = false }: TokenOptions,
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
    canPublishData: keys,
    canSubscribe: true,
    canUpdateOwnMetadata: false,
    hidden: false,
  });
  return token.toJwt();
}

/** How long a token admits somebody beside the user, in milliseconds: they join at once. */
export const SUPERVISOR_TOKEN_TTL_MS = 60_000;

export interface SupervisorTokenOptions {
  readonly room: string;
  readonly identity: string;
  /** True for somebody who speaks with the user, whom everybody sees; false for one who hears, whom nobody sees. */
  readonly speaks: boolean;
}

/** A token for the room of a live call. Who only hears may publish nothing, and neither the user nor the agent learns of them. */
export function supervisorTokenOf(
  server: Pick<MediaServer, 'apiKey' | 'apiSecret'>,
  { room, identity, speaks }: SupervisorTokenOptions,
): Promise<string> {
  const token = new AccessToken(server.apiKey, server.apiSecret, { identity, ttl: SUPERVISOR_TOKEN_TTL_MS / 1_000 });
  token.addGrant({
    room,
    roomJoin: true,
    roomCreate: false,
    roomList: false,
    roomAdmin: false,
    roomRecord: false,
    canPublish: speaks,
    ...(speaks && { canPublishSources: [TrackSource.MICROPHONE] }),
    canPublishData: false,
    canSubscribe: true,
    canUpdateOwnMetadata: false,
    hidden: !speaks,
  });
  return token.toJwt();
}
