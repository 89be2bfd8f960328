/** Decides when a test is due by its schedule, and for which agents. Pure. */
import { Cron } from 'croner';

import type { Agent, AgentTest } from '../../crds/index.ts';
import type { AgentResult } from '../../store/index.ts';

/** Requests a run of this test with the revision that the agent serves. */
export interface RequestRun {
  readonly type: 'requestRun';
  readonly agentName: string;
  readonly revision: string;
}

export interface Schedule {
  readonly due: readonly RequestRun[];
  /** Milliseconds until the next time; absent without a schedule. */
  readonly nextInMs?: number;
}

/** No timer lasts longer. */
const LONGEST_WAIT_MS = 24 * 3_600_000;

/**
 * A time counts once, also where it passed while no operator was running: what counts is when the test last began with the agent. A run that is
 * not over yet stands for those that come due meanwhile.
 *
 * @param agents the agents that the test names
 * @param now milliseconds since the epoch
 */
export function scheduleOf(
  { spec, metadata }: AgentTest,
  agents: readonly Agent[],
  results: readonly AgentResult[],
  now: number,
): Schedule {
  if (spec.schedule === undefined) return { due: [] };
  const cron = new Cron(spec.schedule, { mode: '5-part', timezone: spec.timeZone ?? 'UTC', paused: true });
  const due = agents.flatMap((agent): readonly RequestRun[] => {
    const revision = agent.status?.servingRevision;
    const newest = results.find(({ agentName }) => agentName === agent.metadata.name);
    if (revision === undefined || newest?.verdict === null) return [];
    const since = newest?.createdAt.getTime() ?? Date.parse(metadata.creationTimestamp ?? '');
    const next = Number.isNaN(since) ? null : cron.nextRun(new Date(since));
    if (next === null || next.getTime() > now) return [];
    return [{ type: 'requestRun', agentName: agent.metadata.name, revision }];
  });
  const next = cron.nextRun(new Date(now));
  return { due, ...(next !== null && { nextInMs: Math.min(next.getTime() - now, LONGEST_WAIT_MS) }) };
}
