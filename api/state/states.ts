/** The states of resources, from what this process knows of them and of what they depend on. */
import type { Agent, Tool } from '../../crds/index.ts';
import type { Stored } from '../../kube/types.ts';
import type { Views } from '../resources/views.ts';
import { agentStateOf, toolStateOf, type AgentInputs, type AgentState, type ResourceState } from './resource-state.ts';

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

  async #inputsOf({ metadata, spec }: Stored<Agent>): Promise<AgentInputs> {
    const { namespace: org = '', name } = metadata;
    const tools = await this.#views.tools.find('agent', `${org}/${name}`);
    const base = spec.knowledgeBaseRef && this.#views.knowledgeBases.known(org, spec.knowledgeBaseRef.name);
    return { tools, knowledgeBaseUid: base?.metadata.uid };
  }
}
