import { JobRestartPolicy, RoomAgentDispatch } from 'livekit-server-sdk';

import type { MediaServer } from './media-server.ts';
import { dispatchMetadata } from './names.ts';

/**
 * How much longer a room without a user is kept than its agent waits for one, in seconds: the agent knows the reason why the call ends, and the
 * media server stops the agent's job when it closes the room.
 */
const GRACE_SECONDS = 60;
/** How long a room is kept that all have left, in seconds: a user whose connection broke may come back. */
const DEPARTURE_SECONDS = 20;

/** A second job would know nothing of what was said: a call whose job is lost ends. */
export const RESTART_POLICY = JobRestartPolicy.JRP_NEVER;

/** @param metadata participants can read it */
export function agentDispatch(agentName: string, metadata: string): RoomAgentDispatch {
  return new RoomAgentDispatch({ agentName, metadata, restartPolicy: RESTART_POLICY });
}

export function roomOptionsOf({ agentName, joinSeconds }: Pick<MediaServer, 'agentName' | 'joinSeconds'>, callId: string) {
  return {
    emptyTimeout: joinSeconds + GRACE_SECONDS,
    departureTimeout: DEPARTURE_SECONDS,
    agents: [agentDispatch(agentName, dispatchMetadata(callId))],
  };
}
