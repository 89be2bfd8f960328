/** Decides the states of resources, from what this process knows of them and of their dependencies. */
import { digestOfDependencies } from '../../crds/agent-dependencies.ts';
import type { Agent, AgentTest, PhoneNumber, Tool, WebhookSubscription } from '../../crds/index.ts';
import type { Stored } from '../../kube/types.ts';
import { findCondition, findSummary } from '../../crds/kind.ts';
import { RECONCILING, stateOf, stateWithReferences, type ResourceState } from '../state/resource-state.ts';
import type { Views } from './views.ts';

export interface AgentState extends ResourceState {
  readonly serving_revision?: string;
  readonly desired_revision?: string;
}

/** Inputs that the agent's status has to have taken in, beside the Agent itself. */
export interface AgentInputs {
  /** Tools that name the agent and are not being deleted. */
  readonly tools: readonly Stored<Tool>[];
  readonly knowledgeBaseUid: string | undefined;
}

/** Reasons of the agent's `Synced` with which new calls, or those of its canary, get every usable tool. */
const SERVES_TOOLS: ReadonlySet<string> = new Set(['RevisionServed', 'RevisionReduced', 'CanaryRunning', 'PinPassedOver']);

export class States {
  readonly #views: Pick<Views, 'agents' | 'tools' | 'knowledgeBases'>;

  constructor(views: Pick<Views, 'agents' | 'tools' | 'knowledgeBases'>) {
    this.#views = views;
  }

  async agent(agent: Stored<Agent>): Promise<AgentState> {
    return agentStateOf(agent, await this.#inputsOf(agent));
  }

  /** @param agentName the agent from whose view the tool's state is */
  async tool(tool: Stored<Tool>, agentName: string): Promise<ResourceState> {
    const agent = this.#views.agents.newest(tool.metadata.namespace ?? '', agentName);
    if (agent === undefined) return { ready: false, reason: 'AgentNotReady', message: `the AI agent ${agentName} is not known here yet` };
    return toolStateOf(tool, agent, await this.#inputsOf(agent));
  }

  phoneNumber(number: Stored<PhoneNumber>): ResourceState {
    const { inboundAgentRef, outboundAgentRef } = number.spec;
    return this.#naming(number, [inboundAgentRef, outboundAgentRef]);
  }

  /** A suspended subscription does as it was told: REST shows that as `active: false`, and nothing about it waits. */
  subscription(subscription: Stored<WebhookSubscription>): ResourceState {
    const state = this.#naming(subscription, subscription.spec.scope?.agentRefs ?? []);
    return state.reason === 'Suspended' ? { ready: true, reason: 'Available', message: 'nothing is sent while active is false' } : state;
  }

  agentTest(test: Stored<AgentTest>): ResourceState {
    return this.#naming(test, test.spec.agentRefs);
  }

  #naming(
    object: Stored<PhoneNumber | WebhookSubscription | AgentTest>,
    refs: readonly ({ readonly name: string } | undefined)[],
  ): ResourceState {
    const names = refs.flatMap((ref) => (ref === undefined ? [] : [ref.name]));
    return stateWithReferences(object, names, (name) => this.#views.agents.known(object.metadata.namespace ?? '', name) !== undefined);
  }

  async #inputsOf({ metadata, spec }: Stored<Agent>): Promise<AgentInputs> {
    const { namespace: org = '', name } = metadata;
    const tools = await this.#views.tools.find('agent', `${org}/${name}`);
    const base = spec.knowledgeBaseRef && this.#views.knowledgeBases.known(org, spec.knowledgeBaseRef.name);
    return { tools, knowledgeBaseUid: base?.metadata.uid };
  }
}

/** Returns the state of an agent. A change of one of its tools, or of its knowledge base, counts as a change of the agent. */
export function agentStateOf(agent: Stored<Agent>, inputs: AgentInputs): AgentState {
  const { servingRevision, desiredRevision } = agent.status ?? {};
  const reported = stateOf(agent);
  return {
    ...(isFollowed(agent) && !hasTakenIn(agent, inputs) ? RECONCILING : reported),
    ...(servingRevision !== undefined && { serving_revision: servingRevision }),
    ...(desiredRevision !== undefined && { desired_revision: desiredRevision }),
  };
}

/** Returns the state of a tool, which is in use when this agent offers it. */
export function toolStateOf(tool: Stored<Tool>, agent: Stored<Agent>, inputs: AgentInputs): ResourceState {
  const own = stateOf(tool);
  if (!own.ready) return own;
  const ready = findSummary(agent);
  if (ready === undefined) return RECONCILING;
  // A suspended agent takes nothing in, however long one waits.
  if (!SERVES_TOOLS.has(findCondition(agent, 'Synced')?.reason ?? ''))
    return { ready: false, reason: 'AgentNotReady', message: `the agent does not offer the tool as it is now: ${ready.message}` };
  return hasTakenIn(agent, inputs) ? own : RECONCILING;
}

/** Returns whether the operator follows the agent; one that is suspended, being deleted or in no organisation isn't followed. */
function isFollowed(agent: Stored<Agent>): boolean {
  return agent.metadata.deletionTimestamp === undefined && findCondition(agent, 'Synced') !== undefined;
}

function hasTakenIn({ status }: Stored<Agent>, inputs: AgentInputs): boolean {
  return status?.observedDependenciesDigest === digestOfDependencies(inputs);
}
