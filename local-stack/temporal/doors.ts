/** What this machine's accounts see of Temporal, which knows no credentials by itself: a TLS port that wants the client's certificate, and a web interface with a password. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer as createHttpServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type NetConnectOpts, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';

import type { MutualTls } from '../parts/key-pairs.ts';
import { isLoopbackHost } from '../../platform/loopback-host.ts';

/** Account of the web interface. */
export const UI_USER = 'parley';

/** Lets those in who show the client's certificate. They keep no process alive. */
export async function openTlsDoor(options: { readonly port: number; readonly tls: MutualTls; readonly to: NetConnectOpts }): Promise<void> {
  const { server: own, client } = options.tls;
  const server = createTlsServer(
    {
      cert: readFileSync(own.cert),
      key: readFileSync(own.key),
      ca: readFileSync(client.cert),
      requestCert: true,
      rejectUnauthorized: true,
      // gRPC.
      ALPNProtocols: ['h2'],
    },
    (outer) => join(outer, connect(options.to)),
  );
  server.on('tlsClientError', () => undefined);
  await listen(server, options.port);
}

/** Lets those in who know the password, and no page of another site by way of its own name for this machine (DNS rebinding). */
export async function openUiDoor(options: {
  readonly port: number;
  readonly password: string;
  readonly socketPath?: string;
  readonly target: number;
}): Promise<void> {
  const wanted = digest(`Basic ${Buffer.from(`${UI_USER}:${options.password}`).toString('base64')}`);
  const server = createHttpServer((asked, response) => {
    if (!isLoopbackHost(asked.headers.host, options.port)) return refuse(response, 421, 'this is not the host that was asked for');
    if (!timingSafeEqual(digest(asked.headers.authorization ?? ''), wanted)) {
      response.setHeader('www-authenticate', 'Basic realm="Temporal"');
      return refuse(response, 401, 'name and password are in TEMPORAL_UI: parley env');
    }
    pass(asked, response, options);
  });
  await listen(server, options.port);
}

function pass(
  asked: IncomingMessage,
  response: ServerResponse,
  { socketPath, target }: { readonly socketPath?: string; readonly target: number },
): void {
  const { authorization: _, ...headers } = asked.headers;
  const onward = request(
    {
      ...(socketPath === undefined ? { host: '127.0.0.1', port: target } : { socketPath }),
      method: asked.method,
      path: asked.url,
      headers,
    },
    (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    },
  );
  onward.on('error', () => (response.headersSent ? response.destroy() : refuse(response, 502, 'Temporal does not answer')));
  asked.pipe(onward);
}

function refuse(response: ServerResponse, status: number, why: string): void {
  response.writeHead(status, { 'content-type': 'text/plain', connection: 'close' }).end(`${why}\n`);
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

function join(outer: Socket, inner: Socket): void {
  for (const socket of [outer, inner]) socket.unref();
  outer.pipe(inner).pipe(outer);
  outer.on('error', () => inner.destroy()).on('close', () => inner.destroy());
  inner.on('error', () => outer.destroy()).on('close', () => outer.destroy());
}

function listen(server: Server, port: number): Promise<void> {
  server.unref();
  return new Promise((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', () => resolve()));
}
