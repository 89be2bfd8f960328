/** Whether what REST shows of a resource is in use, from what its operator reported of it. Pure. */
import { inputsDigest } from '../../crds/agent-inputs.ts';
import type { Agent, CommonStatus, Tool } from '../../crds/index.ts';
import type { Stored, KubeObject } from '../../kube/types.ts';

export interface ResourceState {
  readonly ready: boolean;
  /** A reason of the condition `Ready`, `Reconciling`, or `AgentNotReady` of a tool. */
  readonly reason: string;
  readonly message: string;
}

export interface AgentState extends ResourceState {
  readonly serving_revision?: string;
  readonly desired_revision?: string;
}

type Reported = Stored<KubeObject> & { readonly status?: CommonStatus };

/** Beside the Agent itself, what its status has to have taken in. */
export interface AgentInputs {
  /** All that name the agent and are not being deleted. */
  readonly tools: readonly Stored<Tool>[];
  readonly knowledgeBaseUid: string | undefined;
}

/** Reasons of the agent's `Synced` with which new calls get every tool that is usable. */
const servesTools: ReadonlySet<string> = new Set(['RevisionServed', 'RevisionReduced']);

const reconciling = {
  ready: false,
  reason: 'Reconciling',
  message: 'the operator has not acted upon the last change yet; ask again in a moment',
} as const satisfies ResourceState;

export function stateOf({ metadata, status }: Reported): ResourceState {
  if (metadata.deletionTimestamp !== undefined) return { ready: false, reason: 'Deleting', message: 'it is being deleted' };
  const ready = conditionOf(status, 'Ready');
  if (ready === undefined || (status?.observedGeneration ?? 0) < (metadata.generation ?? 0)) return reconciling;
  return { ready: ready.status === 'True', reason: ready.reason, message: ready.message };
}

/**
 * Of what names agents: while one of them is gone, "ready" is what the operator reported before it was.
 *
 * @param isThere whether the agent of this name exists, as far as this process knows
 */
export function stateNamingAgents(object: Reported, names: readonly string[], isThere: (name: string) => boolean): ResourceState {
  const reported = stateOf(object);
  return reported.ready && !names.every(isThere) ? reconciling : reported;
}

/** A change of one of its tools, or of its knowledge base, counts as a change of the agent. */
export function agentStateOf(agent: Stored<Agent>, inputs: AgentInputs): AgentState {
  const { servingRevision, desiredRevision } = agent.status ?? {};
  const reported = stateOf(agent);
  return {
    ...(isFollowed(agent) && !hasTakenIn(agent, inputs) ? reconciling : reported),
    ...(servingRevision !== undefined && { serving_revision: servingRevision }),
    ...(desiredRevision !== undefined && { desired_revision: desiredRevision }),
  };
}

/** A tool is in use when the agent that it is looked at from offers it. */
export function toolStateOf(tool: Stored<Tool>, agent: Stored<Agent>, inputs: AgentInputs): ResourceState {
  const own = stateOf(tool);
  if (!own.ready) return own;
  const ready = conditionOf(agent.status, 'Ready');
  if (ready === undefined) return reconciling;
  // A suspended agent takes nothing in, however long one waits.
  if (!servesTools.has(conditionOf(agent.status, 'Synced')?.reason ?? ''))
    return { ready: false, reason: 'AgentNotReady', message: `the agent does not offer the tool as it is now: ${ready.message}` };
  return hasTakenIn(agent, inputs) ? own : reconciling;
}

/** What is suspended, on its way out or in no organisation takes nothing in, however long one waits. */
function isFollowed({ metadata, status }: Stored<Agent>): boolean {
  return metadata.deletionTimestamp === undefined && conditionOf(status, 'Synced') !== undefined;
}

function hasTakenIn({ status }: Stored<Agent>, inputs: AgentInputs): boolean {
  return status?.observedInputs === inputsDigest(inputs);
}

function conditionOf(status: CommonStatus | undefined, type: string) {
  return status?.conditions?.find((condition) => condition.type === type);
}
