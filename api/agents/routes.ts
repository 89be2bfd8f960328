import type { FastifyInstance } from 'fastify';

import type { ApiDependencies } from '../dependencies.ts';
import { notFound } from '../http/api-error.ts';
import { requireObject, sendEtag, writeModeOf } from '../http/conditions.ts';
import { addRoute } from '../http/route.ts';
import type { KindContext } from '../kinds/context.ts';
import type { FindUsers } from '../references/users.ts';
import { listPage } from '../state/list-page.ts';
import { AgentService } from './agent-service.ts';
import { createAgent, deleteAgent, getAgent, listAgents, updateAgent } from './descriptions.ts';

/** Most long prompts that are read ahead at a time. */
const PROMPTS_READ_AHEAD = 8;

export function registerAgents(
  app: FastifyInstance,
  context: KindContext,
  users: readonly FindUsers[],
  { store }: Pick<ApiDependencies, 'store'>,
): void {
  const agents = new AgentService(context, users, store.agentReleases);
  readPromptsAhead(context);
  const { reader } = agents;

  addRoute(app, createAgent, async ({ query, body, caller, reply }) => {
    const { view, resourceVersion } = await agents.create(caller, body, { dryRun: query.dry_run, force: query.force });
    sendEtag(reply, resourceVersion);
    return reply.code(201).send(view);
  });

  addRoute(app, listAgents, async ({ query, caller }) => {
    const objects = await context.views.agents.list(caller.org);
    const stateOf = context.states.agent.bind(context.states);
    const { items, next_page_token } = await listPage(context.pageTokens, { list: `agents/${caller.org}`, objects, query, stateOf });
    return { data: await Promise.all(items.map((agent) => reader.view(caller, agent))), next_page_token };
  });

  addRoute(app, getAgent, async ({ params: { ai_agent_id: id }, caller, reply }) => {
    return reader.view(caller, requireObject(reply, await context.views.agents.get(caller.org, id), 'AI agent'));
  });

  addRoute(app, updateAgent, async ({ params, query, body, caller, request, reply }) => {
    const answer = await agents.update(caller, params.ai_agent_id, body, writeModeOf(query, request));
    if (answer === undefined) throw notFound('AI agent');
    sendEtag(reply, answer.resourceVersion);
    return answer.view;
  });

  addRoute(app, deleteAgent, async ({ params, query, caller, request }) => {
    if (!(await agents.delete(caller, params.ai_agent_id, writeModeOf(query, request)))) throw notFound('AI agent');
    return { data: {}, message: query.dry_run ? 'The AI agent would be deleted' : 'The AI agent was deleted' };
  });
}

/** Reads long prompts ahead, a few at a time: they are in ConfigMaps, and answers need them while the API server is away. */
function readPromptsAhead({ views, companions }: KindContext): void {
  const lanes = Array.from({ length: PROMPTS_READ_AHEAD }, () => Promise.resolve());
  let next = 0;
  views.agents.onChange(({ metadata, spec }) => {
    const ref = spec.llm.systemPromptFrom?.configMapKeyRef;
    if (ref === undefined) return;
    const lane = next++ % PROMPTS_READ_AHEAD;
    lanes[lane] = (lanes[lane] ?? Promise.resolve()).then(() => companions.remember(metadata.namespace ?? '', ref));
  });
}
