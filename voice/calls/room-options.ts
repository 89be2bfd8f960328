/** The options of calls' rooms. */
import { JobRestartPolicy, RoomAgentDispatch } from 'livekit-server-sdk';

import type { MediaServer } from './media-server.ts';
import { dispatchMetadata } from './names.ts';

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
    emptyTimeout: joinSeconds,
    departureTimeout: DEPARTURE_SECONDS,
    agents: [agentDispatch(agentName, dispatchMetadata(callId))],
  };
}
