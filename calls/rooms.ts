/** Rooms of the media server. */
import { type ParticipantInfo, RoomServiceClient, TwirpError } from 'livekit-server-sdk';

import { httpUrlOf, type MediaServer } from './media-server.ts';

/** Longest time for one request, in seconds. */
const timeoutSeconds = 5;

export interface Rooms {
  /** Sends everybody out and closes the room. One that isn't there is closed. */
  close(room: string): Promise<void>;
  /** Whether an agent is in the room now. There is none in a room that isn't there. */
  hasAgent(room: string): Promise<boolean>;
}

/** `AGENT` among the kinds of participants, in LiveKit's protocol. */
const agentKind = 4;

/** Whether somebody in a room is an agent, and neither a user nor a phone. */
export function isAgent({ kind }: Pick<ParticipantInfo, 'kind'>): boolean {
  return (kind as number) === agentKind;
}

export function createRooms(server: MediaServer): Rooms {
  const client = new RoomServiceClient(httpUrlOf(server), server.apiKey, server.apiSecret, { requestTimeout: timeoutSeconds });
  return {
    async close(room) {
      try {
        await client.deleteRoom(room);
      } catch (error) {
        if (!isAbsent(error)) throw error;
      }
    },
    async hasAgent(room) {
      try {
        return (await client.listParticipants(room)).some(isAgent);
      } catch (error) {
        if (isAbsent(error)) return false;
        throw error;
      }
    },
  };
}

function isAbsent(error: unknown): boolean {
  return error instanceof TwirpError && error.code === 'not_found';
}
