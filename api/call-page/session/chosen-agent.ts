/** Chooses the agent that the page offers first, and the message where the link names one that isn't there. */

export interface NamedAgent {
  readonly ai_agent_id: string;
  readonly agent_name: string;
}

export interface PageAgent extends NamedAgent {
  readonly required_dynamic_data: readonly string[];
}

export interface ChosenAgent {
  readonly agent: PageAgent | undefined;
  readonly problem: string | undefined;
}

/** @param wanted the id that the link names; undefined where it names none */
export function chosenAgent(agents: readonly PageAgent[], wanted: string | undefined): ChosenAgent {
  const [first] = agents;
  if (first === undefined) return { agent: undefined, problem: 'The organisation of this key has no agents.' };
  if (wanted === undefined) return { agent: first, problem: undefined };
  const found = agents.find(({ ai_agent_id: id }) => id === wanted);
  const problem = found === undefined ? `There is no agent “${wanted}” in the organisation of this key. Choose another one.` : undefined;
  return { agent: found ?? first, problem };
}

/** Returns the agent's name, with its id where another agent has the same name. */
export function agentLabel({ ai_agent_id: id, agent_name: name }: NamedAgent, agents: readonly NamedAgent[]): string {
  return agents.some((other) => other.agent_name === name && other.ai_agent_id !== id) ? `${name} (${id})` : name;
}
