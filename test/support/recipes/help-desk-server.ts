/** Runs the MCP server of the recipe `help-desk`, of the official SDK, on a loopback address. */
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';

export async function startHelpDeskServer(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const answer = (value: object) => ({ content: [{ type: 'text' as const, text: JSON.stringify(value) }] });
  const make = (): McpServer => {
    const server = new McpServer({ name: 'help-desk', version: '1.0.0' });
    server.registerTool(
      'find_tickets',
      {
        description: 'Finds open tickets of the employee, and those of others that are about the same.',
        inputSchema: z.object({ words: z.string().max(200).describe('What it is about, in a few words.') }),
        annotations: { readOnlyHint: true },
      },
      async () => answer({ tickets: [] }),
    );
    server.registerTool(
      'create_ticket',
      {
        description: 'Creates a ticket of the employee.',
        inputSchema: z.object({ summary: z.string().min(5).max(500).describe('The problem, in one sentence.') }),
      },
      async () => answer({ number: '4071' }),
    );
    server.registerTool('reset_password', { description: 'Sends the employee a link to a new password, to their phone.' }, async () =>
      answer({ sent_to: 'phone' }),
    );
    // The recipe includes three tools: this one is not offered.
    server.registerTool('delete_ticket', { description: 'Deletes a ticket.' }, async () => answer({}));
    return server;
  };
  const handle = toNodeHandler(createMcpHandler(make));
  const server = createServer((request, response) => void handle(request as Parameters<typeof handle>[0], response));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
