/** The server behind a custom tool: remembers what it was asked, and answers as a test says. */
import type { IncomingMessage, ServerResponse } from 'node:http';

import type { Servers } from '../../platform/egress/testing/servers.ts';

export interface Received {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface TestEndpoint {
  readonly url: string;
  readonly host: string;
  readonly requests: Received[];
  /** How many connections are open. */
  readonly open: () => number;
}

export async function startEndpoint(
  servers: Servers,
  answer: (response: ServerResponse, request: Received) => void,
): Promise<TestEndpoint> {
  const requests: Received[] = [];
  const server = await servers.http((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const received = { method, url, headers, body: Buffer.concat(chunks).toString() };
      requests.push(received);
      answer(response, received);
    });
  });
  const host = `127.0.0.1:${server.port}`;
  return { url: `http://${host}`, host, requests, open: server.open };
}

export function sendJson(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
