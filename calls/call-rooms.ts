/** Rooms of calls that nobody has come into yet: the agent comes first, and rings the other side from there. */
import { RoomServiceClient } from 'livekit-server-sdk';

import { httpUrlOf, type MediaServer } from './media-server.ts';
import { roomOf } from './names.ts';
import { roomOptionsOf } from './room-options.ts';

/** Longest time for one request, in seconds. */
const timeoutSeconds = 5;

export interface CallRooms {
  /** Makes the room of a call, and calls for an agent. @throws when the media server doesn't do it within 5 s */
  open(callId: string): Promise<void>;
}

export function createCallRooms(server: MediaServer): CallRooms {
  const client = new RoomServiceClient(httpUrlOf(server), server.apiKey, server.apiSecret, { requestTimeout: timeoutSeconds });
  return {
    async open(callId) {
      await client.createRoom({ name: roomOf(callId), ...roomOptionsOf(server, callId) });
    },
  };
}
