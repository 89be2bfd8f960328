/** Converts a revision to the form of an answer, so that it can be compared with one. */
import { attachedToolToRest } from '../../../api/tools/fields.ts';
import { agentToRest, type AgentView } from '../../../api/agents/fields.ts';
import { masked } from '../../../api/codec/secrets.ts';
import type { AgentRevisionConfig } from '../../../crds/agent-revision.ts';
import type { Agent, Tool } from '../../../crds/index.ts';

/** An agent as answers show it, with its tools in the order of their ids: a revision has them in another one. */
export type Shown = Omit<AgentView, 'created_by_user_id' | 'state'>;

export function shownOfRevision(config: AgentRevisionConfig): Shown {
  const { agent, displayName, knowledgeBase, systemPrompt, tools, name } = config;
  const spec = {
    ...agent,
    displayName,
    llm: { ...agent.llm, ...(systemPrompt !== null && { systemPrompt }) },
    ...(knowledgeBase !== null && { knowledgeBaseRef: { name: knowledgeBase } }),
  };
  const view = agentToRest({ metadata: { name }, spec } as unknown as Agent, {
    secrets: masked,
    state: { ready: true, reason: '', message: '' },
    longPrompt: null,
    tools: tools.map((tool) => attachedToolToRest({ metadata: { name: tool.name }, spec: tool.spec } as unknown as Tool, masked)),
  });
  return comparable(view);
}

/** @param lost references of the agent to objects that are not there: it has to be served without those */
export function shownOfAnswer(answer: AgentView, lost: { readonly base: boolean; readonly tools: ReadonlySet<string> }): Shown {
  const { llm } = answer;
  const tools = (llm.tools as readonly { tool_id: string }[]).filter(({ tool_id: id }) => !lost.tools.has(id));
  return comparable({ ...answer, llm: { ...llm, tools }, knowledge_base_id: lost.base ? undefined : answer.knowledge_base_id });
}

function comparable(view: AgentView): Shown {
  const { created_by_user_id: _user, state: _state, ...shown } = view;
  const { llm_id: _id, tools, ...llm } = shown.llm;
  const sorted = (tools as readonly { tool_id: string }[]).toSorted((a, b) => (a.tool_id < b.tool_id ? -1 : 1));
  return { ...shown, llm: { ...llm, required_dynamic_data: llm.required_dynamic_data.toSorted(), tools: sorted } } as unknown as Shown;
}
