/** Rooms of the media server. */
import { AgentDispatchClient, RoomServiceClient, TwirpError, type AgentDispatch, type ParticipantInfo } from 'livekit-server-sdk';

import { httpUrlOf, type MediaServer } from './media-server.ts';
import { dispatchMetadata, roomOf } from './names.ts';
import { RESTART_POLICY, roomOptionsOf } from './room-options.ts';

/** Longest time for one request, in seconds. */
const TIMEOUT_SECONDS = 5;
/** Rooms that are as new have an agent on its way, in milliseconds. */
const NEW_ROOM_MS = 4_000;
/** A user who has waited for so long, in milliseconds, is not kept waiting: the stale-call sweeper ends the call. */
const MAX_WAIT_MS = 45_000;
/** `AGENT` among the kinds of participants, in LiveKit's protocol. */
const AGENT_KIND = 4;
/** `JS_RUNNING` in LiveKit's protocol; those before it have not begun, those behind it are over. */
const RUNNING_JOB = 1;

/** Each fails when the media server doesn't do it within 5 s. */
export interface Rooms {
  /** Makes the room of a call that nobody has come into yet, and calls for an agent: it comes first, and waits for the user, or rings the other side. */
  open(callId: string): Promise<void>;
  /** Sends everybody out and closes the room. One that isn't there is closed. */
  close(room: string): Promise<void>;
  /** Whether an agent is in the room now. There is none in a room that isn't there. */
  hasAgent(room: string): Promise<boolean>;
  /**
   * Those of the rooms that exist, have no agent, and to which none is on its way: the media server calls for one once, and not again when
   * nobody was there to take the job.
   */
  waiting(rooms: readonly string[]): Promise<readonly string[]>;
  /** Calls for an agent. */
  callAgent(room: string, callId: string): Promise<void>;
}

/** Whether somebody in a room is an agent, and neither a user nor a phone. */
export function isAgent({ kind }: Pick<ParticipantInfo, 'kind'>): boolean {
  return (kind as number) === AGENT_KIND;
}

export function createRooms(server: MediaServer): Rooms {
  const { apiKey, apiSecret, agentName } = server;
  const url = httpUrlOf(server);
  const options = { requestTimeout: TIMEOUT_SECONDS };
  const client = new RoomServiceClient(url, apiKey, apiSecret, options);
  const dispatches = new AgentDispatchClient(url, apiKey, apiSecret, options);
  const participantsOf = async (room: string): Promise<readonly ParticipantInfo[]> => {
    try {
      return await client.listParticipants(room);
    } catch (error) {
      if (isAbsent(error)) return [];
      throw error;
    }
  };
  return {
    async open(callId) {
      await client.createRoom({ name: roomOf(callId), ...roomOptionsOf(server, callId) });
    },
    async close(room) {
      try {
        await client.deleteRoom(room);
      } catch (error) {
        if (!isAbsent(error)) throw error;
      }
    },
    hasAgent: async (room) => (await participantsOf(room)).some(isAgent),
    async waiting(names) {
      if (names.length === 0) return [];
      const there = await client.listRooms([...names]);
      const old = there.filter(({ creationTimeMs }) => Date.now() - Number(creationTimeMs) >= NEW_ROOM_MS);
      const alone = await Promise.all(
        old.map(async ({ name }) => {
          const inside = await participantsOf(name);
          if (inside.some((each) => isAgent(each) || Date.now() - Number(each.joinedAtMs) >= MAX_WAIT_MS)) return false;
          return !(await dispatches.listDispatch(name)).some(hasJob);
        }),
      );
      return old.filter((_room, index) => alone[index]).map(({ name }) => name);
    },
    async callAgent(room, callId) {
      await dispatches.createDispatch(room, agentName, { metadata: dispatchMetadata(callId), restartPolicy: RESTART_POLICY });
    },
  };
}

/** Whether somebody has the job, or is about to. */
function hasJob({ state }: AgentDispatch): boolean {
  return (state?.jobs ?? []).some((job) => ((job.state?.status ?? 0) as number) <= RUNNING_JOB);
}

function isAbsent(error: unknown): boolean {
  return error instanceof TwirpError && error.code === 'not_found';
}
