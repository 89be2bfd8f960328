/** Rooms of the media server. */
import {
  AgentDispatchClient,
  DataPacket_Kind,
  RoomServiceClient,
  TwirpError,
  type AgentDispatch,
  type ParticipantInfo,
} from 'livekit-server-sdk';

import { httpUrlOf, type MediaServer } from './media-server.ts';
import { CONTROL_TOPIC, END_TOPIC, isBeside, isInboundRoom, roomOf, WATCH_TOPIC } from './names.ts';
import { RESTART_POLICY, roomOptionsOf } from './room-options.ts';

/** Longest time for one request, in seconds. */
const TIMEOUT_SECONDS = 5;
/** How long an agent that was dispatched may still be on its way, in milliseconds. */
const ON_ITS_WAY_MS = 4_000;
/** A user who has waited longer gets no agent any more, in milliseconds: the stale-call sweeper ends the call. */
const MAX_WAIT_MS = 45_000;
/** `AGENT` among the kinds of participants, in LiveKit's protocol. */
const AGENT_KIND = 4;
/** `JS_RUNNING` in LiveKit's protocol; lower: not begun, higher: over. */
const RUNNING_JOB = 1;

/** Each request fails after 5 s. */
export interface Rooms {
  /** Creates the room of a call and dispatches an agent, which waits for the user or dials the callee. */
  open(callId: string): Promise<void>;
  /** Disconnects all participants. Succeeds for a room that does not exist. */
  close(room: string): Promise<void>;
  /** Asks the agent in the room to end its call. @returns false where there is no agent */
  end(room: string): Promise<boolean>;
  /** Tells the agent in the room that there are commands for its call. @returns false where there is no agent */
  control(room: string): Promise<boolean>;
  /** Tells the agent in the room that somebody follows its call. @returns false where there is no agent */
  watch(room: string): Promise<boolean>;
  /** Whether anybody but agents and supervisors is in the room now; false for a room that does not exist. */
  hasUser(room: string): Promise<boolean>;
  /** Whether an agent is in the room now; false for a room that does not exist. */
  hasAgent(room: string): Promise<boolean>;
  /** Lists the rooms of calls that came in by phone. */
  inbound(): Promise<readonly string[]>;
  /**
   * Returns the rooms among these that exist, have no agent, and to which none is on its way: the media server dispatches one once, and not again
   * when no voice process took the job. Rooms of calls that came in by phone count only while their caller is there.
   */
  waiting(rooms: readonly string[]): Promise<readonly string[]>;
  /** Dispatches an agent. @param metadata what its job is for */
  callAgent(room: string, metadata: string): Promise<void>;
}

/** Whether the participant is an agent, and neither a user nor a phone. */
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
  const tellAgents = async (room: string, topic: string): Promise<boolean> => {
    const agents = (await participantsOf(room)).filter(isAgent).map(({ identity }) => identity);
    if (agents.length > 0)
      await client.sendData(room, new Uint8Array(), DataPacket_Kind.RELIABLE, { destinationIdentities: agents, topic });
    return agents.length > 0;
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
    end: (room) => tellAgents(room, END_TOPIC),
    control: (room) => tellAgents(room, CONTROL_TOPIC),
    watch: (room) => tellAgents(room, WATCH_TOPIC),
    hasUser: async (room) => (await participantsOf(room)).some((each) => !isAgent(each) && !isBeside(each.identity)),
    hasAgent: async (room) => (await participantsOf(room)).some(isAgent),
    inbound: async () => (await client.listRooms()).map(({ name }) => name).filter(isInboundRoom),
    async waiting(names) {
      if (names.length === 0) return [];
      const there = await client.listRooms([...names]);
      const old = there.filter(({ creationTimeMs }) => Date.now() - Number(creationTimeMs) >= ON_ITS_WAY_MS);
      const alone = await Promise.all(
        old.map(async ({ name }) => {
          const inside = await participantsOf(name);
          if (inside.length === 0 && isInboundRoom(name)) return false;
          if (inside.some((each) => isAgent(each) || Date.now() - Number(each.joinedAtMs) >= MAX_WAIT_MS)) return false;
          // Other programs may have rooms and agents of their own at the same media server.
          const ours = (await dispatches.listDispatch(name)).filter((dispatch) => dispatch.agentName === agentName);
          return ours.length > 0 && !ours.some(isOnItsWay);
        }),
      );
      return old.filter((_room, index) => alone[index]).map(({ name }) => name);
    },
    async callAgent(room, metadata) {
      await dispatches.createDispatch(room, agentName, { metadata, restartPolicy: RESTART_POLICY });
    },
  };
}

/** Whether a voice process has the job, or may be about to. */
function isOnItsWay({ state }: AgentDispatch): boolean {
  const ageMs = Date.now() - Number(state?.createdAt ?? 0n) / 1e6;
  return ageMs < ON_ITS_WAY_MS || (state?.jobs ?? []).some((job) => ((job.state?.status ?? 0) as number) <= RUNNING_JOB);
}

function isAbsent(error: unknown): boolean {
  return error instanceof TwirpError && error.code === 'not_found';
}
