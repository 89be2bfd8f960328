/** The states of resources, from what this process knows of them and of what they depend on. */
import type { Agent, PhoneNumber, Tool, WebhookSubscription } from '../../crds/index.ts';
import type { Stored } from '../../kube/types.ts';
import type { Views } from '../resources/views.ts';
import { agentStateOf, stateNamingAgents, toolStateOf, type AgentInputs, type AgentState, type ResourceState } from './resource-state.ts';

export class States {
  readonly #views: Pick<Views, 'agents' | 'tools' | 'knowledgeBases'>;

  constructor(views: Pick<Views, 'agents' | 'tools' | 'knowledgeBases'>) {
    this.#views = views;
  }

  async agent(agent: Stored<Agent>): Promise<AgentState> {
    return agentStateOf(agent, await this.#inputsOf(agent));
  }

  /** @param agentName of the agent that the tool is looked at from */
  async tool(tool: Stored<Tool>, agentName: string): Promise<ResourceState> {
    const agent = this.#views.agents.newest(tool.metadata.namespace ?? '', agentName);
    if (agent === undefined) return { ready: false, reason: 'AgentNotReady', message: `the AI agent ${agentName} is not known here yet` };
    return toolStateOf(tool, agent, await this.#inputsOf(agent));
  }

  phoneNumber(number: Stored<PhoneNumber>): ResourceState {
    const { inboundAgentRef, outboundAgentRef } = number.spec;
    return this.#naming(number, [inboundAgentRef, outboundAgentRef]);
  }

  subscription(subscription: Stored<WebhookSubscription>): ResourceState {
    return this.#naming(subscription, subscription.spec.scope?.agentRefs ?? []);
  }

  #naming(object: Stored<PhoneNumber | WebhookSubscription>, refs: readonly ({ readonly name: string } | undefined)[]): ResourceState {
    const names = refs.flatMap((ref) => (ref === undefined ? [] : [ref.name]));
    return stateNamingAgents(object, names, (name) => this.#views.agents.known(object.metadata.namespace ?? '', name) !== undefined);
  }

  async #inputsOf({ metadata, spec }: Stored<Agent>): Promise<AgentInputs> {
    const { namespace: org = '', name } = metadata;
    const tools = await this.#views.tools.find('agent', `${org}/${name}`);
    const base = spec.knowledgeBaseRef && this.#views.knowledgeBases.known(org, spec.knowledgeBaseRef.name);
    return { tools, knowledgeBaseUid: base?.metadata.uid };
  }
}
