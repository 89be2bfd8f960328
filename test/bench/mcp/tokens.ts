import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { z } from 'zod';

import { toolsOf, type RouteTool } from '../../../api/mcp-server/tools.ts';
import type { RouteDescription } from '../../../api/http/route.ts';
import { describedRoutes } from '../../../api/openapi/described-routes.ts';
import { figure, type Table } from '../harness/table.ts';

/** Counted with the tokenizer of GPT-4o: others come close. */
export function mcpTable(): Table {
  const routes = describedRoutes().filter(({ undocumented, permission }) => !undocumented && permission !== 'public');
  const tools = toolsOf(routes);
  const readers = tools.filter(({ definition }) => definition.annotations?.readOnlyHint);
  const rows: readonly (readonly [string, readonly unknown[]])[] = [
    ['all routes, schemas in full', routes.map(inFull)],
    ['the tools, schemas in full', tools.map(({ route }) => inFull(route))],
    ['the tools, without output schemas', tools.map(({ definition }) => ({ ...definition, outputSchema: undefined }))],
    ['the tools', tools.map(definitionOf)],
    ['the tools of a key that reads', readers.map(definitionOf)],
  ];
  return {
    title: 'Tokens of tools/list',
    columns: ['', 'tools', 'tokens'],
    rows: rows.map(([name, definitions]) => [name, figure(definitions.length), figure(encode(JSON.stringify(definitions)).length)]),
  };
}

const definitionOf = ({ definition }: RouteTool) => definition;

/** As the descriptions have it, each schema complete in itself. */
function inFull({ operationId: name, summary, description, params, query, body, answers }: RouteDescription): object {
  const schema = Object.values(answers).find((answer) => answer.schema !== undefined)?.schema;
  const parts = { params, query: query && z.toJSONSchema(query, { io: 'input' }), body: body && z.toJSONSchema(body, { io: 'input' }) };
  return { name, description: `${summary}. ${description ?? ''}`, inputSchema: parts, outputSchema: schema && z.toJSONSchema(schema) };
}
