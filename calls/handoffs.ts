/** The agents that may take part in a call. */
import type { AgentRevisionConfig } from '../crds/agent-revision.ts';
import type { AgentRevisions } from '../store/agent-revisions.ts';
import type { CallAgent } from '../store/index.ts';

/** Most agents that may take part in one call. */
export const MAX_AGENTS = 16;

interface Configured {
  /** Configuration of a revision, as it was stored. */
  readonly config: unknown;
}

/**
 * Returns the agents that a call may be handed over to, by their names, however many hand-overs that takes: the nearest ones where there
 * are more than {@link MAX_AGENTS} with the one that it begins with.
 *
 * @param first the agent that the call begins with
 * @param find returns undefined for an agent that can't take part
 */
export async function findReachableAgents<T extends Configured>(
  first: Configured,
  find: (name: string) => T | undefined | Promise<T | undefined>,
): Promise<ReadonlyMap<string, T>> {
  const { name: begins } = first.config as AgentRevisionConfig;
  const found = new Map<string, T>();
  const seen = new Set([begins]);
  for (let next = namesIn([first]); next.length > 0 && found.size < MAX_AGENTS - 1;) {
    const fresh = [...new Set(next)].filter((name) => !seen.has(name)).slice(0, MAX_AGENTS - 1 - found.size);
    for (const name of fresh) seen.add(name);
    const agents = await Promise.all(fresh.map(async (name) => [name, await find(name)] as const));
    const there = agents.flatMap(([name, agent]) => (agent === undefined ? [] : [[name, agent] as const]));
    for (const [name, agent] of there) found.set(name, agent);
    next = namesIn(there.map(([, agent]) => agent));
  }
  return found;
}

/** Returns the agents that a new call may be handed over to, each with the revision that it would serve this call with. */
export async function othersOfCall(
  { org, callId, config }: Configured & { readonly org: string; readonly callId: string },
  revisions: Pick<AgentRevisions, 'servingByName'>,
): Promise<readonly CallAgent[]> {
  const found = await findReachableAgents({ config }, (agentName) => revisions.servingByName({ org, agentName, callId }));
  return [...found.values()].map(({ agentName, revision, canary }) => ({ agentName, revision, canary }));
}

const namesIn = (agents: readonly Configured[]): readonly string[] =>
  agents.flatMap(({ config }) => ((config as AgentRevisionConfig).agent.handoffs ?? []).map(({ agentRef }) => agentRef.name));
