// oxlint-disable oxc/no-async-endpoint-handlers -- Fastify awaits its handlers; the rule is about Express.
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

import { ApiError } from '../http/api-error.ts';
import { dryRunQuery, ifMatch, sendEtag, writeQuery } from '../http/conditions.ts';
import { readRequest } from '../http/read-request.ts';
import { callerOf, requestState } from '../http/request-state.ts';
import { pageOf, pageQuery } from '../pagination/keyset.ts';
import type { Foundation } from '../resources/foundation.ts';
import { isObjectName } from '../resources/names.ts';
import { AgentService } from './agent-service.ts';
import { agentCreate, agentUpdate } from './schema.ts';

interface ById {
  readonly Params: { readonly agent_id: string };
}

const deleteQuery = z.object(dryRunQuery);

export function registerAgents(app: FastifyInstance, foundation: Foundation): void {
  const agents = new AgentService(foundation);
  const { reader } = agents;

  app.post('/v2/ai-agents', async (request, reply) => {
    const { query, body } = readRequest(request, { query: writeQuery, body: agentCreate });
    const caller = callerOf(request);
    const { view, resourceVersion } = await requestState(request).timed('kubernetes', () =>
      agents.create(caller, body, { dryRun: query.dry_run, force: query.force }),
    );
    sendEtag(reply, resourceVersion);
    return reply.code(201).send(view);
  });

  app.get('/v2/ai-agents', async (request) => {
    const { query } = readRequest(request, { query: pageQuery });
    const caller = callerOf(request);
    const list = `agents/${caller.org}`;
    const position = query.page_token === undefined ? undefined : foundation.pageTokens.read(list, query.page_token);
    return requestState(request).timed('kubernetes', async () => {
      const { items, next } = pageOf(await foundation.views.agents.find('namespace', caller.org), query.page_size, position);
      const data = await Promise.all(items.map((agent) => reader.view(caller, agent)));
      return { data, next_page_token: next === undefined ? null : foundation.pageTokens.write(list, next) };
    });
  });

  app.get<ById>('/v2/ai-agents/:agent_id', async (request, reply) => {
    const caller = callerOf(request);
    const { agent_id: id } = request.params;
    const answer = await requestState(request).timed('kubernetes', async () => {
      const agent = isObjectName(id) ? await reader.find(caller.org, id) : undefined;
      return agent && { view: await reader.view(caller, agent), resourceVersion: agent.metadata.resourceVersion };
    });
    if (answer === undefined) throw notFound();
    sendEtag(reply, answer.resourceVersion);
    return answer.view;
  });

  app.put<ById>('/v2/ai-agents/:agent_id', async (request, reply) => {
    const { query, body } = readRequest(request, { query: writeQuery, body: agentUpdate });
    const caller = callerOf(request);
    const options = { dryRun: query.dry_run, force: query.force, requireState: ifMatch(request) };
    const answer = await requestState(request).timed('kubernetes', () => agents.update(caller, request.params.agent_id, body, options));
    if (answer === undefined) throw notFound();
    sendEtag(reply, answer.resourceVersion);
    return answer.view;
  });

  app.delete<ById>('/v2/ai-agents/:agent_id', async (request) => {
    const { query } = readRequest(request, { query: deleteQuery });
    const caller = callerOf(request);
    const options = { dryRun: query.dry_run, requireState: ifMatch(request) };
    const existed = await requestState(request).timed('kubernetes', () => agents.delete(caller, request.params.agent_id, options));
    if (!existed) throw notFound();
    return { data: {}, message: query.dry_run ? 'The AI agent would be deleted' : 'The AI agent was deleted' };
  });
}

/** The same for what is somebody else's, what doesn't exist and what can't exist. */
function notFound(): ApiError {
  return new ApiError('not_found', 'AI agent not found');
}
