/** Rooms of the media server. */
import { RoomServiceClient, TwirpError } from 'livekit-server-sdk';

import type { MediaServer } from './media-server.ts';

/** Longest time for one request, in seconds. */
const timeoutSeconds = 5;

export interface Rooms {
  /** Sends everybody out and closes the room. One that isn't there is closed. */
  close(room: string): Promise<void>;
}

export function createRooms({ url, apiKey, apiSecret }: MediaServer): Rooms {
  const client = new RoomServiceClient(url.replace(/^ws/, 'http'), apiKey, apiSecret, { requestTimeout: timeoutSeconds });
  return {
    async close(room) {
      try {
        await client.deleteRoom(room);
      } catch (error) {
        if (!(error instanceof TwirpError && error.code === 'not_found')) throw error;
      }
    },
  };
}
