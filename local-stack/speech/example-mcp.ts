/** Serves the MCP server of the example resources, as `http://orders.example/mcp` for the roles of a local stack. */
import type { IncomingMessage, ServerResponse } from 'node:http';

const PRICES = { 'flat tyre': 15, brakes: 40, chain: 35, 'full service': 95 } as const;
const REPAIRS = Object.keys(PRICES) as (keyof typeof PRICES)[];

/** Any credentials will do, as for the orders. */
export const isForMcp = ({ url, headers }: IncomingMessage): boolean =>
  url === '/mcp' && headers.host?.replace(/:.*/, '') === 'orders.example' && headers.authorization !== undefined;

/** Speaks both versions of the protocol. The SDK is loaded with the first request: few sessions of a local stack need it. */
export function createExampleMcp(): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  let handler: Promise<(request: IncomingMessage, response: ServerResponse) => Promise<void>> | undefined;
  return async (request, response) => (await (handler ??= load()))(request, response);
}

async function load() {
  const [{ createMcpHandler, McpServer }, { toNodeHandler }, { z }] = await Promise.all([
    import('@modelcontextprotocol/server'),
    import('@modelcontextprotocol/node'),
    import('zod'),
  ]);
  const serve = toNodeHandler(
    createMcpHandler(() => {
      const server = new McpServer({ name: 'workshop', version: '1.0.0' });
      const repair = z.enum(REPAIRS).describe('Which repair.');
      server.registerTool(
        'price_of_repair',
        {
          description: 'Says what a repair costs, in euros. Call it before you name a price.',
          inputSchema: z.object({ repair }),
          outputSchema: z.object({ repair, euros: z.number() }),
          annotations: { readOnlyHint: true },
        },
        async (asked) => {
          const answer = { repair: asked.repair, euros: PRICES[asked.repair] };
          return { structuredContent: answer, content: [{ type: 'text', text: JSON.stringify(answer) }] };
        },
      );
      return server;
    }),
  );
  return (request: IncomingMessage, response: ServerResponse) => serve(request as Parameters<typeof serve>[0], response);
}
