/** Rooms of calls that nobody has come into yet: the agent comes first, and rings the other side from there. */
import { JobRestartPolicy, RoomAgentDispatch, RoomServiceClient } from 'livekit-server-sdk';

import { emptyRoomSeconds } from './access-token.ts';
import type { MediaServer } from './media-server.ts';
import { dispatchMetadata, roomOf } from './names.ts';

/** Longest time for one request, in seconds. */
const timeoutSeconds = 5;
/** How long a room is kept that everybody has left, in seconds. */
const departureSeconds = 20;

export interface CallRooms {
  /** Makes the room of a call, and calls for an agent. @throws when the media server doesn't do it within 5 s */
  open(callId: string): Promise<void>;
}

export function createCallRooms({ url, apiKey, apiSecret, agentName }: MediaServer): CallRooms {
  const client = new RoomServiceClient(url.replace(/^ws/, 'http'), apiKey, apiSecret, { requestTimeout: timeoutSeconds });
  return {
    async open(callId) {
      await client.createRoom({
        name: roomOf(callId),
        emptyTimeout: emptyRoomSeconds,
        departureTimeout: departureSeconds,
        // A second job would know nothing of what was said: a call whose job is lost is over.
        agents: [new RoomAgentDispatch({ agentName, metadata: dispatchMetadata(callId), restartPolicy: JobRestartPolicy.JRP_NEVER })],
      });
    },
  };
}
