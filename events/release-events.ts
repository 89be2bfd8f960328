/** Makes the events that report a change of the serving revision to subscribers. */
import type { NewEvent, ReleasedAgent } from '../store/index.ts';
import { buildEvent } from './emit.ts';

/** @param now milliseconds since the epoch */
export function releaseEvents(now: number): (released: ReleasedAgent) => readonly NewEvent[] {
  return ({ org, agentName, change, revision, replaced, percent, reason, by }) => {
    const about = { org, agent: agentName, now };
    switch (change) {
      case 'canary_ended':
        return [];
      case 'aborted':
      case 'rolled_back':
        return [
          buildEvent({
            ...about,
            name: 'Agent.RolledBack',
            payload: {
              agent_id: agentName,
              revision,
              rolled_back_revision: replaced ?? revision,
              aborted: change === 'aborted',
              ...(reason !== undefined && { reason: reason.slice(0, 1000) }),
              ...(by !== undefined && { requested_by: by.slice(0, 200) }),
            },
          }),
        ];
      case 'served':
      case 'pinned':
      case 'canary_began':
      case 'promoted':
        return [
          buildEvent({
            ...about,
            name: 'Agent.RevisionServed',
            payload: { agent_id: agentName, revision, percent, ...(replaced !== null && { previous_revision: replaced }) },
          }),
        ];
      default:
        return change satisfies never;
    }
  };
}
