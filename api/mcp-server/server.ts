/** Answers one request of a client with the MCP SDK: it offers the tools and resources that the client's key may use. */
import {
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type CallToolResult,
  type ListToolsResult,
  type ReadResourceResult,
} from '@modelcontextprotocol/server';

import { version } from '../../platform/version.ts';
import { callTool, type SendRequest } from './call-tool.ts';
import { describeFailure } from './errors.ts';
import { addressOf, templateOf } from './resources.ts';
import type { RouteTool } from './tools.ts';

const INSTRUCTIONS = `Parley runs voice agents. Agents, tools, phone numbers, knowledge bases and tests are objects of one organisation: that of the API key.
Every tool that writes validates only and answers what would change, until it is called with dry_run: false. Show people the changes first.
Lists come in pages: pass next_page_token as page_token. A write is in use when the state of the object is ready; if it is not, explain_resource says why and what to do.`;

export interface ServerOptions {
  readonly tools: ReadonlyMap<string, RouteTool>;
  readonly mayUse: (tool: RouteTool) => boolean;
  readonly send: SendRequest;
  readonly onCalled: (tool: string, result: CallToolResult) => void;
}

export function createMcpServer({ tools, mayUse, send, onCalled }: ServerOptions): Server {
  const server = new Server(
    { name: 'parley', title: 'Parley', version },
    { capabilities: { tools: {}, resources: {} }, instructions: INSTRUCTIONS },
  );
  const usable = [...tools.values()].filter(mayUse);

  server.setRequestHandler('tools/list', (): ListToolsResult => ({ tools: usable.map(({ definition }) => definition) }));
  server.setRequestHandler('tools/call', async ({ params }): Promise<CallToolResult> => {
    const tool = tools.get(params.name);
    if (tool === undefined)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `there is no tool ${params.name.slice(0, 100)}: tools/list has them all`);
    const result = await callTool(tool, params.arguments ?? {}, send);
    onCalled(params.name, result);
    return result;
  });
  server.setRequestHandler('resources/list', () => ({ resources: [] }));
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: usable.flatMap(templateOf) }));
  server.setRequestHandler('resources/read', async ({ params: { uri } }): Promise<ReadResourceResult> => {
    const request = addressOf(uri, tools.values());
    if (request === undefined)
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `there is no resource ${uri.slice(0, 200)}: resources/templates/list has their forms`,
      );
    const answer = await send(request);
    if (answer.status >= 400)
      throw new ProtocolError(
        answer.status >= 500 ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidParams,
        describeFailure({ ...answer, body: JSON.parse(answer.text) }),
      );
    return { contents: [{ uri, mimeType: 'application/json', text: answer.text }] };
  });
  return server;
}
