import type { Agent, Tool } from '../../crds/index.ts';
import type { Stored } from '../../kube/types.ts';
import { masked, type SecretValues } from '../codec/secrets.ts';
import type { Caller } from '../http/caller.ts';
import type { KindContext } from '../kinds/context.ts';
import { attachedToolToRest, toolSecretRefs } from '../tools/fields.ts';
import type { AgentTools } from '../tools/agent-tools.ts';
import { agentSecretRefs, agentToRest, type AgentView } from './fields.ts';

/** Values that a dry run or a write knows and the server doesn't yet. */
interface Unwritten {
  readonly longPrompt?: string | null;
  readonly tools?: readonly unknown[];
}

/** Turns agents into answers, with the values that are kept elsewhere: long prompts, tools and, for callers that may see them, secrets. */
export class AgentReader {
  readonly #context: KindContext;
  readonly #tools: AgentTools;
  /** Answers about tools with their secrets masked: a cached tool never changes, and lists of agents show many. */
  readonly #shown = new WeakMap<Tool, Readonly<Record<string, unknown>>>();

  constructor(context: KindContext, tools: AgentTools) {
    this.#context = context;
    this.#tools = tools;
  }

  async view(caller: Caller, agent: Stored<Agent>, unwritten: Unwritten = {}): Promise<AgentView> {
    const { companions } = this.#context;
    const { org } = caller;
    const prompt = agent.spec.llm.systemPromptFrom?.configMapKeyRef;
    const attached = unwritten.tools === undefined ? await this.#tools.attachedTo(org, agent.metadata.name) : [];
    const [longPrompt, secrets, state] = await Promise.all([
      unwritten.longPrompt !== undefined || prompt === undefined ? (unwritten.longPrompt ?? null) : companions.readText(org, prompt),
      companions.secretsToShow(caller, [...agentSecretRefs(agent.spec), ...attached.flatMap(({ spec }) => toolSecretRefs(spec))]),
      this.#context.states.agent(agent),
    ]);
    const tools = unwritten.tools ?? attached.map((tool) => this.#show(tool, secrets));
    return agentToRest(agent, { secrets, state, longPrompt, tools });
  }

  #show(tool: Tool, secrets: SecretValues): Readonly<Record<string, unknown>> {
    if (secrets !== masked) return attachedToolToRest(tool, secrets);
    const shown = this.#shown.get(tool) ?? attachedToolToRest(tool, secrets);
    this.#shown.set(tool, shown);
    return shown;
  }
}
