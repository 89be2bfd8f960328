import { z } from 'zod';

import { deleted, listOf } from '../codec/answers.ts';
import { writeQuery } from '../http/conditions.ts';
import { routesOf, type RouteDescription } from '../http/route.ts';
import { resourcePage } from '../state/answers.ts';
import {
  builtinToolBodies,
  builtinToolChange,
  builtinToolExample,
  customToolBody,
  customToolChange,
  customToolExample,
  mcpToolBody,
  mcpToolChange,
  mcpToolExample,
} from './examples.ts';
import {
  builtinTool,
  builtinToolAnswer,
  builtinToolUpdates,
  customTool,
  customToolAnswer,
  customToolUpdate,
  mcpTool,
  mcpToolAnswer,
  mcpToolUpdate,
} from './fields.ts';

const defineRoute = routesOf('Tools');
const agent = { ai_agent_id: 'The `ai_agent_id` of the agent that has the tool.' };
const one = { ...agent, tool_id: 'The `tool_id`: the name of the Tool resource.' };
const DELETION =
  'Takes the tool from this agent. It is deleted altogether when no other agent uses it; where others do, and another field manager has attached it, the answer is 409, unless forced.';

interface Words<P extends string, N extends string, C, U, A> {
  readonly path: P;
  /** Begins the names of the schemas and operations. */
  readonly name: N;
  /** Noun in "Make a …". */
  readonly noun: string;
  readonly create: C;
  readonly createExamples: Readonly<Record<string, unknown>>;
  readonly update: U;
  readonly updateDescription: string;
  readonly change: unknown;
  readonly answer: A;
  readonly example: unknown;
  /** Offers the routes that write to assistants. */
  readonly offered: Pick<RouteDescription, 'mcp'>;
}

function toolRoutes<const P extends string, const N extends string, C extends z.ZodType, U extends z.ZodType, A extends z.ZodType>(
  words: Words<P, N, C, U, A>,
) {
  const { path, name, noun, answer: schema, example, offered } = words;
  const all = `/v2/ai-agents/:ai_agent_id/${path}/` as const;
  const byId = `/v2/ai-agents/:ai_agent_id/${path}/:tool_id` as const;
  const reads = { permission: 'tools:read' } as const;
  const writes = { permission: 'tools:write', query: writeQuery, errors: ['conflict'], ...offered } as const;
  const answers = { 200: { description: 'The tool.', schema, example, headers: ['ETag'] } } as const;
  return {
    create: defineRoute({
      method: 'POST',
      path: all,
      operationId: `create${name}`,
      summary: `Make a ${noun}`,
      description: 'The function name is unique within the agent.',
      params: agent,
      body: words.create,
      bodyExamples: words.createExamples,
      answers: { 201: { description: 'The tool.', schema, example, headers: ['ETag'], identifies: { tool_id: 'tool_id' } } },
      ...writes,
    }),
    list: defineRoute({
      method: 'GET',
      path: all,
      operationId: `list${name}s`,
      mcp: {},
      summary: `List the ${noun}s of an agent, in the order of their creation`,
      params: agent,
      query: resourcePage,
      answers: {
        200: {
          description: 'A page of tools.',
          schema: listOf(schema, `${name}List`),
          example: { data: [example], next_page_token: null },
          headers: ['Age'],
        },
      },
      ...reads,
    }),
    get: defineRoute({
      method: 'GET',
      path: byId,
      operationId: `get${name}`,
      summary: `Get a ${noun}`,
      params: one,
      answers: { 200: { ...answers[200], headers: ['ETag', 'Age'] } },
      ...reads,
    }),
    update: defineRoute({
      method: 'PUT',
      path: byId,
      operationId: `update${name}`,
      summary: 'Change the fields given',
      description: words.updateDescription,
      params: one,
      ifMatch: true,
      readsLater: true,
      body: words.update,
      bodyExamples: { 'some changes': words.change },
      answers,
      ...writes,
    }),
    delete: defineRoute({
      method: 'DELETE',
      path: byId,
      operationId: `delete${name}`,
      summary: `Take a ${noun} from an agent`,
      description: DELETION,
      params: one,
      ifMatch: true,
      answers: { 200: deleted('The tool was deleted') },
      ...writes,
    }),
  };
}

const PARTIAL = 'Absent fields keep their value, at every level; `null` brings back the default.';

export const customToolRoutes = toolRoutes({
  path: 'custom-tools',
  name: 'CustomTool',
  noun: 'custom tool',
  create: customTool.meta({ id: 'CustomToolCreate' }),
  createExamples: { 'a look-up': customToolBody },
  update: customToolUpdate.meta({ id: 'CustomToolUpdate' }),
  updateDescription: PARTIAL,
  change: customToolChange,
  answer: customToolAnswer,
  example: customToolExample,
  offered: { mcp: {} },
});

export const builtinToolRoutes = toolRoutes({
  path: 'builtin-tools',
  name: 'BuiltinTool',
  noun: 'built-in tool',
  create: builtinTool.meta({ id: 'BuiltinToolCreate' }),
  createExamples: builtinToolBodies,
  update: z
    .discriminatedUnion('tool_name', [
      builtinToolUpdates.SendEmail,
      builtinToolUpdates.TransferCall,
      builtinToolUpdates.BookCalendar,
      builtinToolUpdates.CheckCalendarAvailability,
    ])
    .meta({ id: 'BuiltinToolUpdate' }),
  updateDescription: `${PARTIAL} \`tool_name\` is that of the stored tool, and so are the fields: those of another variant are refused.`,
  change: builtinToolChange,
  answer: builtinToolAnswer,
  example: builtinToolExample,
  offered: {},
});

export const mcpToolRoutes = toolRoutes({
  path: 'mcp-tools',
  name: 'McpTool',
  noun: 'MCP server',
  create: mcpTool.meta({ id: 'McpToolCreate' }),
  createExamples: { 'a server with a token': mcpToolBody },
  update: mcpToolUpdate.meta({ id: 'McpToolUpdate' }),
  updateDescription: PARTIAL,
  change: mcpToolChange,
  answer: mcpToolAnswer,
  example: mcpToolExample,
  offered: {},
});
