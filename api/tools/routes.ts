import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';

import type { Tool } from '../../crds/index.ts';
import type { Stored } from '../../kube/types.ts';
import { ApiError, ValidationError } from '../http/api-error.ts';
import { ifMatch, sendEtag, writeQuery } from '../http/conditions.ts';
import { readRequest } from '../http/read-request.ts';
import { addRoute } from '../http/route.ts';
import type { KindContext } from '../kinds/context.ts';
import { listPage } from '../state/list-page.ts';
import { issues } from '../validation/issue.ts';
import { builtinToolFromRest, builtinToolToRest, builtinVariantOf } from './builtin-codec.ts';
import { builtinToolUpdates, type BuiltinToolCreate, type BuiltinToolUpdate } from './builtin-schema.ts';
import { customToolFromRest, customToolToRest } from './codec.ts';
import { builtinToolRoutes, customToolRoutes } from './descriptions.ts';
import { customToolUpdate, type CustomTool, type CustomToolUpdate } from './schema.ts';
import { ToolService, type Encode, type ToolFamily } from './tool-service.ts';

interface Named {
  readonly tool_id?: string | null | undefined;
}

/** A family of tools with routes of its own. `C` and `U`: bodies that make and change one. */
interface Family<C, U extends Named> extends ToolFamily {
  readonly routes: typeof customToolRoutes | typeof builtinToolRoutes;
  /** The stored tool decides which fields an update can have. */
  readonly updateOf: (stored: Stored<Tool>) => z.ZodType<U>;
  readonly encode: (body: C | U) => Encode;
  readonly bringsSecrets: (body: U) => boolean;
  /** That an update wants. */
  readonly functionName: (body: U) => string | undefined;
}

const custom: Family<CustomTool, CustomToolUpdate> = {
  routes: customToolRoutes,
  includes: (spec) => spec.custom !== undefined,
  toRest: (spec, secrets) => (spec.custom === undefined ? {} : customToolToRest({ ...spec, custom: spec.custom }, secrets)),
  updateOf: () => customToolUpdate,
  encode: (body) => (previous, encoding) => customToolFromRest(body, previous, encoding),
  bringsSecrets: (body) => Boolean(body.additional_tool_info?.api?.headers),
  functionName: (body) => body.function_tool?.name,
};

const builtin: Family<BuiltinToolCreate, BuiltinToolUpdate> = {
  routes: builtinToolRoutes,
  includes: (spec) => builtinVariantOf(spec) !== undefined,
  toRest: (spec, secrets) => {
    const variant = builtinVariantOf(spec);
    return variant === undefined ? {} : builtinToolToRest(spec, variant, secrets);
  },
  updateOf: ({ spec }) => builtinToolUpdates[builtinVariantOf(spec) ?? 'sendEmail'],
  encode: (body) => (previous, encoding) => builtinToolFromRest(body, previous, encoding),
  bringsSecrets: (body) => 'app_password' in body || 'cal_api_key' in body,
  functionName: () => undefined,
};

export function registerTools(app: FastifyInstance, context: KindContext): void {
  registerFamily(app, context, custom);
  registerFamily(app, context, builtin);
}

function registerFamily<C, U extends Named>(app: FastifyInstance, context: KindContext, family: Family<C, U>): void {
  const tools = new ToolService(context, family);
  const { routes } = family;

  addRoute(app, routes.create, async ({ params, query, body, caller, reply }) => {
    const mode = { dryRun: query.dry_run, force: query.force };
    const make = { encode: family.encode(body as C), wanted: body.tool_id ?? undefined };
    const tool = await tools.create(caller, params.ai_agent_id, make, mode);
    if (tool === undefined) throw agentNotFound();
    sendEtag(reply, tool.metadata.resourceVersion);
    return reply.code(201).send(await tools.view(caller, params.ai_agent_id, tool));
  });

  addRoute(app, routes.list, async ({ params: { ai_agent_id: agent }, query, caller }) => {
    const list = `${routes.list.path}/${caller.org}/${agent}`;
    const objects = await tools.list(caller.org, agent);
    if (objects === undefined) throw agentNotFound();
    const stateOf = (tool: Stored<Tool>) => context.states.tool(tool, agent);
    const { items, next_page_token } = await listPage(context.pageTokens, { list, objects, query, stateOf });
    return { data: await Promise.all(items.map((tool) => tools.view(caller, agent, tool))), next_page_token };
  });

  addRoute(app, routes.get, async ({ params: { ai_agent_id: agent, tool_id: id }, caller, reply }) => {
    const tool = await tools.find(caller.org, agent, id);
    if (tool === undefined) throw toolNotFound();
    sendEtag(reply, tool.metadata.resourceVersion);
    return tools.view(caller, agent, tool);
  });

  addRoute(app, routes.update, async ({ params: { ai_agent_id: agent, tool_id: id }, caller, request, reply }) => {
    const stored = await tools.find(caller.org, agent, id);
    if (stored === undefined) throw toolNotFound();
    const { query, body } = readRequest(request, { query: writeQuery, body: family.updateOf(stored) });
    if (typeof body.tool_id === 'string' && body.tool_id !== id)
      throw new ValidationError([
        issues.value(['body', 'tool_id'], `the path names the tool ${JSON.stringify(id)}, and its id can't change`),
      ]);
    const options = { dryRun: query.dry_run, force: query.force, requireState: ifMatch(request) };
    const change = { encode: family.encode(body), bringsSecrets: family.bringsSecrets(body), functionName: family.functionName(body) };
    const tool = await tools.update(caller, agent, id, change, options);
    if (tool === undefined) throw toolNotFound();
    sendEtag(reply, tool.metadata.resourceVersion);
    return tools.view(caller, agent, tool);
  });

  addRoute(app, routes.delete, async ({ params: { ai_agent_id: agent, tool_id: id }, query, caller, request }) => {
    const options = { dryRun: query.dry_run, force: query.force, requireState: ifMatch(request) };
    if (!(await tools.delete(caller.org, agent, id, options))) throw toolNotFound();
    return { data: {}, message: query.dry_run ? 'The tool would be deleted' : 'The tool was deleted' };
  });
}

function agentNotFound(): ApiError {
  return new ApiError('not_found', 'AI agent not found');
}

/** The same for a tool of somebody else, of another agent, of no agent, and for one that doesn't or can't exist. */
function toolNotFound(): ApiError {
  return new ApiError('not_found', 'Tool not found');
}
