/** Which agent the page offers first, and what to say where the link names one that isn't there. */

export interface PageAgent {
  readonly ai_agent_id: string;
  readonly agent_name: string;
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
