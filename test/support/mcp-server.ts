/** Runs a server of the official SDK on a loopback address, over either version of the protocol, with tools that go wrong in every way. */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';

import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';

export type ServedVersion = '2025-11-25' | '2026-07-28';

/** Both versions can be served: sessions belong to the first, and the second has none. */
export const SERVED_VERSIONS: readonly ServedVersion[] = ['2025-11-25', '2026-07-28'];

export interface McpTestServer {
  readonly url: string;
  readonly port: number;
  /** All requests, with the method of the protocol where there is a body. */
  readonly requests: { readonly method: string; readonly rpc: string | undefined; readonly headers: IncomingHttpHeaders }[];
  /** Names of tools whose call was cancelled. */
  readonly cancelled: string[];
  /** Calls of the tool `wait` that have no answer yet: each is answered when its function is called. */
  readonly waiting: (() => void)[];
  /** Descriptions that replace those of tools from now on. */
  readonly descriptions: Map<string, string>;
  /** Names of tools that the server has from now on, next to the others. */
  readonly added: Set<string>;
  /** Returns the number of open sessions. */
  readonly sessions: () => number;
  /** Forgets the sessions, like a server that keeps them in memory and starts again. */
  forgetSessions(): void;
  /** Answers every request with this status from now on; undefined to serve again. */
  refuseWith(status: number | undefined): void;
  /** Serves only requests with this Authorization from now on. */
  requireAuthorization(value: string): void;
  /** Ends the server, with its sessions, and starts another one on the same port. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export const BIG_RESULT_BYTES = 10 * 1024 * 1024;

export async function startMcpServer({
  version,
  port: wanted = 0,
}: {
  readonly version: ServedVersion;
  readonly port?: number;
}): Promise<McpTestServer> {
  const requests: McpTestServer['requests'] = [];
  const cancelled: string[] = [];
  const waiting: McpTestServer['waiting'] = [];
  const descriptions = new Map<string, string>();
  const added = new Set<string>();
  const sessions = new Map<string, NodeStreamableHTTPServerTransport>();
  let refusal: number | undefined;
  let authorization: string | undefined;

  const make = (): McpServer => {
    const server = new McpServer({ name: 'test', version: '1.0.0' });
    const described = (name: string, text: string): string => descriptions.get(name) ?? text;
    const readOnly = { readOnlyHint: true };
    server.registerTool(
      'echo',
      { description: described('echo', 'Says the same.'), inputSchema: z.object({ text: z.string().max(100) }) },
      async ({ text }) => ({ content: [{ type: 'text', text }] }),
    );
    server.registerTool('refuse', { description: 'Fails.' }, async () => ({
      isError: true,
      content: [{ type: 'text', text: 'no such order at http://10.0.0.7/x' }],
    }));
    server.registerTool('throw', { description: 'Breaks.' }, async () => {
      throw new Error('broken');
    });
    server.registerTool(
      'structured',
      { description: 'Answers with an object.', outputSchema: z.object({ state: z.string(), days: z.number() }) },
      async () => ({ structuredContent: { state: 'ready', days: 2 }, content: [{ type: 'text', text: '{"state":"ready","days":2}' }] }),
    );
    server.registerTool('mixed', { description: 'Answers with everything.' }, async () => ({
      content: [
        { type: 'text', text: 'Here it is.' },
        { type: 'image', data: 'aGk=', mimeType: 'image/png' },
        { type: 'audio', data: 'aGk=', mimeType: 'audio/wav' },
        { type: 'resource', resource: { uri: 'file:///a.txt', mimeType: 'text/plain', text: 'Text of the file.' } },
        { type: 'resource', resource: { uri: 'file:///a.bin', blob: 'aGk=' } },
        { type: 'resource_link', uri: 'https://shop.example/terms', name: 'terms' },
      ],
    }));
    server.registerTool('big', { description: 'Answers with 10 MB.' }, async () => ({
      content: [{ type: 'text', text: 'x'.repeat(BIG_RESULT_BYTES) }],
    }));
    server.registerTool('long', { description: 'Answers with 200 KB.' }, async () => ({
      content: [{ type: 'text', text: 'y'.repeat(200 * 1024) }],
    }));
    server.registerTool(
      'progress',
      { description: 'Says how far it is.', inputSchema: z.object({ steps: z.number().int() }) },
      async ({ steps }, { mcpReq }) => {
        for (let step = 1; step <= steps && !mcpReq.signal.aborted; step += 1) {
          await setImmediate();
          const progressToken = mcpReq._meta?.progressToken;
          if (progressToken !== undefined)
            await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress: step, total: steps } });
        }
        return { content: [{ type: 'text', text: `after ${steps} steps` }] };
      },
    );
    server.registerTool('wait', { description: 'Answers when it may.' }, async () => {
      await new Promise<void>((resolve) => void waiting.push(resolve));
      return { content: [{ type: 'text', text: 'done' }] };
    });
    for (const [name, annotations] of [
      ['hang', {}],
      ['hang_reading', readOnly],
    ] as const) {
      server.registerTool(name, { description: 'Never answers.', annotations }, async ({ mcpReq }) => {
        await new Promise<void>((resolve) => mcpReq.signal.addEventListener('abort', () => resolve(), { once: true }));
        cancelled.push(name);
        return { content: [] };
      });
    }
    server.registerTool('headers', { description: 'Repeats a header.' }, async ({ http }) => ({
      content: [{ type: 'text', text: `Authorization was ${http?.req?.headers.get('authorization') ?? 'absent'}` }],
    }));
    for (const name of added)
      server.registerTool(name, { description: 'Is new.' }, async () => ({ content: [{ type: 'text', text: name }] }));
    return server;
  };

  const modern = toNodeHandler(createMcpHandler(make, { legacy: 'reject' }));
  let server: Server;
  const listen = async (port: number): Promise<void> => {
    server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        const body = text === '' ? undefined : (JSON.parse(text) as { readonly method?: string });
        requests.push({ method: request.method ?? '', rpc: body?.method, headers: request.headers });
        if (authorization !== undefined && request.headers.authorization !== authorization) return response.writeHead(401).end();
        if (refusal !== undefined) return response.writeHead(refusal).end();
        if (version === '2026-07-28') return void modern(request as Parameters<typeof modern>[0], response, body);
        const id = request.headers['mcp-session-id'];
        const known = typeof id === 'string' ? sessions.get(id) : undefined;
        if (known !== undefined) return void known.handleRequest(request, response, body);
        if (id !== undefined) return response.writeHead(404).end();
        const transport = new NodeStreamableHTTPServerTransport({
          sessionIdGenerator: () => randomUUID(),
          onsessioninitialized: (made) => void sessions.set(made, transport),
          onsessionclosed: (closed) => void sessions.delete(closed),
        });
        return void make()
          .connect(transport)
          .then(() => transport.handleRequest(request, response, body));
      });
    });
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  const stop = async (): Promise<void> => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  await listen(wanted);
  const { port } = server!.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    port,
    requests,
    cancelled,
    waiting,
    descriptions,
    added,
    sessions: () => sessions.size,
    forgetSessions: () => sessions.clear(),
    refuseWith: (status) => (refusal = status),
    requireAuthorization: (value) => (authorization = value),
    async restart() {
      await stop();
      sessions.clear();
      await listen(port);
    },
    stop,
  };
}
