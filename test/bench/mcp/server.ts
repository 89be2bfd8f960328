/** Serves MCP of both versions, and an HTTP API with the same answers, in its own process. Says its ports, and ends with its parent. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { SERVED_VERSIONS, startMcpServer } from '../../support/mcp-server.ts';

const api = createServer((request, response) => {
  request.resume().on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{"state":"ready","days":2}'));
});
await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
const servers = await Promise.all(SERVED_VERSIONS.map((version) => startMcpServer({ version })));
process.on('disconnect', () => process.exit(0));
process.send?.({ api: (api.address() as AddressInfo).port, mcp: servers.map(({ url }) => url) });
