/** Rooms in which somebody waits for an agent: the media server calls for one once, and not again when nobody was there to take the job. */
import { AgentDispatchClient, RoomServiceClient, type AgentDispatch } from 'livekit-server-sdk';

import { httpUrlOf, type MediaServer } from './media-server.ts';
import { dispatchMetadata } from './names.ts';
import { restartPolicy } from './room-options.ts';
import { createRooms } from './rooms.ts';

/** Longest time for one request, in seconds. */
const timeoutSeconds = 5;
/** Rooms that are as new have an agent on its way, in milliseconds. */
const newMs = 4_000;
/** Who has waited for so long, in milliseconds, is not kept waiting: the reaper ends the call. */
const enoughMs = 45_000;
/** `JS_RUNNING` in LiveKit's protocol; those before it have not begun, those behind it are over. */
const runningJob = 1;

export interface WaitingRooms {
  /** Those of the rooms that exist, have no agent, and to which none is on its way. */
  waiting(rooms: readonly string[]): Promise<readonly string[]>;
  /** Calls for an agent. */
  callAgent(room: string, callId: string): Promise<void>;
}

/** @param now milliseconds since the epoch */
export function createWaitingRooms(server: MediaServer, now: () => number): WaitingRooms {
  const { apiKey, apiSecret, agentName } = server;
  const url = httpUrlOf(server);
  const options = { requestTimeout: timeoutSeconds };
  const client = new RoomServiceClient(url, apiKey, apiSecret, options);
  const dispatches = new AgentDispatchClient(url, apiKey, apiSecret, options);
  const rooms = createRooms(server);
  return {
    async waiting(names) {
      if (names.length === 0) return [];
      const there = await client.listRooms([...names]);
      const old = there.filter(({ creationTimeMs }) => {
        const age = now() - Number(creationTimeMs);
        return age >= newMs && age < enoughMs;
      });
      const alone = await Promise.all(
        old.map(async ({ name }) => !(await rooms.hasAgent(name)) && !(await dispatches.listDispatch(name)).some(hasJob)),
      );
      return old.filter((_room, index) => alone[index]).map(({ name }) => name);
    },
    async callAgent(room, callId) {
      await dispatches.createDispatch(room, agentName, { metadata: dispatchMetadata(callId), restartPolicy });
    },
  };
}

/** Whether somebody has the job, or is about to. */
function hasJob({ state }: AgentDispatch): boolean {
  return (state?.jobs ?? []).some((job) => ((job.state?.status ?? 0) as number) <= runningJob);
}
