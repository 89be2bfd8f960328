import type { FastifyInstance } from 'fastify';

import { ApiError } from '../http/api-error.ts';
import { ifMatch, sendEtag } from '../http/conditions.ts';
import { addRoute } from '../http/route.ts';
import type { Foundation } from '../resources/foundation.ts';
import { isObjectName } from '../resources/names.ts';
import { listPage } from '../state/list-page.ts';
import { AgentService } from './agent-service.ts';
import { createAgent, deleteAgent, getAgent, listAgents, updateAgent } from './descriptions.ts';

export function registerAgents(app: FastifyInstance, foundation: Foundation): void {
  const agents = new AgentService(foundation);
  const { reader } = agents;

  addRoute(app, createAgent, async ({ query, body, caller, reply }) => {
    const options = { dryRun: query.dry_run, force: query.force };
    const { view, resourceVersion } = await agents.create(caller, body, options);
    sendEtag(reply, resourceVersion);
    return reply.code(201).send(view);
  });

  addRoute(app, listAgents, async ({ query, caller }) => {
    const objects = await foundation.views.agents.find('namespace', caller.org);
    const stateOf = foundation.states.agent.bind(foundation.states);
    const { items, next_page_token } = await listPage(foundation.pageTokens, { list: `agents/${caller.org}`, objects, query, stateOf });
    return { data: await Promise.all(items.map((agent) => reader.view(caller, agent))), next_page_token };
  });

  addRoute(app, getAgent, async ({ params: { agent_id: id }, caller, reply }) => {
    const agent = isObjectName(id) ? await reader.find(caller.org, id) : undefined;
    if (agent === undefined) throw notFound();
    sendEtag(reply, agent.metadata.resourceVersion);
    return reader.view(caller, agent);
  });

  addRoute(app, updateAgent, async ({ params, query, body, caller, request, reply }) => {
    const options = { dryRun: query.dry_run, force: query.force, requireState: ifMatch(request) };
    const answer = await agents.update(caller, params.agent_id, body, options);
    if (answer === undefined) throw notFound();
    sendEtag(reply, answer.resourceVersion);
    return answer.view;
  });

  addRoute(app, deleteAgent, async ({ params, query, caller, request }) => {
    const options = { dryRun: query.dry_run, force: query.force, requireState: ifMatch(request) };
    const existed = await agents.delete(caller, params.agent_id, options);
    if (!existed) throw notFound();
    return { data: {}, message: query.dry_run ? 'The AI agent would be deleted' : 'The AI agent was deleted' };
  });
}

/** The same for what is somebody else's, what doesn't exist and what can't exist. */
function notFound(): ApiError {
  return new ApiError('not_found', 'AI agent not found');
}
