import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';

import type { Tool, ToolSpec } from '../../crds/index.ts';
import type { Stored } from '../../kube/types.ts';
import { ValidationError, notFound } from '../http/api-error.ts';
import { requireObject, sendEtag, writeModeOf, writeQuery } from '../http/conditions.ts';
import { readRequest } from '../http/read-request.ts';
import { addRoute } from '../http/route.ts';
import type { KindContext } from '../kinds/context.ts';
import { listPage } from '../state/list-page.ts';
import { issues } from '../validation/issue.ts';
import { builtinToolRoutes, customToolRoutes, mcpToolRoutes } from './descriptions.ts';
import {
  builtinToolUpdates,
  builtinTypeOf,
  customToolUpdate,
  mcpToolUpdate,
  type BuiltinToolUpdate,
  type CustomToolUpdate,
  type McpToolUpdate,
} from './fields.ts';
import { ToolService } from './tool-service.ts';

interface Family {
  readonly routes: typeof customToolRoutes | typeof builtinToolRoutes | typeof mcpToolRoutes;
  readonly includes: (spec: ToolSpec) => boolean;
  /** The stored tool decides which fields an update can have. */
  readonly updateOf: (stored: Stored<Tool>) => z.ZodType<CustomToolUpdate | BuiltinToolUpdate | McpToolUpdate>;
}

const custom: Family = {
  routes: customToolRoutes,
  includes: (spec) => spec.type === 'Custom',
  updateOf: () => customToolUpdate,
};

const mcp: Family = {
  routes: mcpToolRoutes,
  includes: (spec) => spec.type === 'MCP',
  updateOf: () => mcpToolUpdate,
};

const builtin: Family = {
  routes: builtinToolRoutes,
  includes: (spec) => builtinTypeOf(spec) !== undefined,
  updateOf: ({ spec }) => builtinToolUpdates[builtinTypeOf(spec) ?? 'SendEmail'],
};

export function registerTools(app: FastifyInstance, context: KindContext): void {
  registerFamily(app, context, custom);
  registerFamily(app, context, builtin);
  registerFamily(app, context, mcp);
}

function registerFamily(app: FastifyInstance, context: KindContext, { routes, includes, updateOf }: Family): void {
  const tools = new ToolService(context, includes);

  addRoute(app, routes.create, async ({ params, query, body, caller, reply }) => {
    const mode = { dryRun: query.dry_run, force: query.force };
    const tool = await tools.create(caller, params.ai_agent_id, body, mode);
    if (tool === undefined) throw notFound('AI agent');
    sendEtag(reply, tool.metadata.resourceVersion);
    return reply.code(201).send(await tools.view(caller, params.ai_agent_id, tool));
  });

  addRoute(app, routes.list, async ({ params: { ai_agent_id: agent }, query, caller }) => {
    const list = `${routes.list.path}/${caller.org}/${agent}`;
    const objects = await tools.list(caller.org, agent);
    if (objects === undefined) throw notFound('AI agent');
    const stateOf = (tool: Stored<Tool>) => context.states.tool(tool, agent);
    const { items, next_page_token } = await listPage(context.pageTokens, { list, objects, query, stateOf });
    return { data: await Promise.all(items.map((tool) => tools.view(caller, agent, tool))), next_page_token };
  });

  addRoute(app, routes.get, async ({ params: { ai_agent_id: agent, tool_id: id }, caller, reply }) => {
    return tools.view(caller, agent, requireObject(reply, await tools.find(caller.org, agent, id), 'Tool'));
  });

  addRoute(app, routes.update, async ({ params: { ai_agent_id: agent, tool_id: id }, caller, request, reply }) => {
    const stored = await tools.find(caller.org, agent, id);
    if (stored === undefined) throw notFound('Tool');
    const { query, body } = readRequest(request, { query: writeQuery, body: updateOf(stored) });
    if (typeof body.tool_id === 'string' && body.tool_id !== id)
      throw new ValidationError([
        issues.value(['body', 'tool_id'], `the path names the tool ${JSON.stringify(id)}, and its id can't change`),
      ]);
    const tool = await tools.update(caller, agent, id, body, writeModeOf(query, request));
    return tools.view(caller, agent, requireObject(reply, tool, 'Tool'));
  });

  addRoute(app, routes.delete, async ({ params: { ai_agent_id: agent, tool_id: id }, query, caller, request }) => {
    if (!(await tools.delete(caller.org, agent, id, writeModeOf(query, request)))) throw notFound('Tool');
    return { data: {}, message: query.dry_run ? 'The tool would be deleted' : 'The tool was deleted' };
  });
}
