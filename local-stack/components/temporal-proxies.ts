/** Guards Temporal, which knows no credentials, with a TLS port for clients with the certificate, and a web interface with a password. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer as createHttpServer, request, type IncomingMessage, type RequestOptions, type ServerResponse } from 'node:http';
import { connect, type NetConnectOpts, type Server } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';

import { isLoopbackHost } from '../../platform/loopback-host.ts';
import type { MutualTls } from './secrets.ts';
import { joinSockets } from './temporal-relay.ts';

/** Account of the web interface. */
export const UI_USER = 'parley';

interface ProxyOptions {
  readonly port: number;
  /** Address of the server behind the proxy. */
  readonly to: NetConnectOpts;
}

/** Accepts clients that show the client's certificate. Its connections keep no process alive. */
export async function openTlsProxy({ port, tls, to }: ProxyOptions & { readonly tls: MutualTls }): Promise<void> {
  const server = createTlsServer(
    {
      cert: readFileSync(tls.server.cert),
      key: readFileSync(tls.server.key),
      ca: readFileSync(tls.client.cert),
      requestCert: true,
      rejectUnauthorized: true,
      // gRPC needs HTTP/2.
      ALPNProtocols: ['h2'],
    },
    (outer) => joinSockets(outer.unref(), connect(to).unref()),
  );
  server.on('tlsClientError', () => undefined);
  await listen(server, port);
}

/** Accepts clients that send the password, and no page of another site that uses a name of its own for this machine (DNS rebinding). */
export async function openUiProxy({ port, password, to }: ProxyOptions & { readonly password: string }): Promise<void> {
  const wanted = digest(`Basic ${Buffer.from(`${UI_USER}:${password}`).toString('base64')}`);
  const target = 'path' in to ? { socketPath: to.path } : to;
  const server = createHttpServer((incoming, response) => {
    if (!isLoopbackHost(incoming.headers.host, port)) return refuse(response, 421, 'this is not the host that was asked for');
    if (!timingSafeEqual(digest(incoming.headers.authorization ?? ''), wanted)) {
      response.setHeader('www-authenticate', 'Basic realm="Temporal"');
      return refuse(response, 401, 'name and password are in TEMPORAL_UI: parley env');
    }
    forward(incoming, response, target);
  });
  await listen(server, port);
}

function forward(incoming: IncomingMessage, response: ServerResponse, target: RequestOptions): void {
  const { authorization: _, ...headers } = incoming.headers;
  const outgoing = request({ ...target, method: incoming.method, path: incoming.url, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  outgoing.on('error', () => (response.headersSent ? response.destroy() : refuse(response, 502, 'Temporal does not answer')));
  incoming.pipe(outgoing);
}

function refuse(response: ServerResponse, status: number, why: string): void {
  response.writeHead(status, { 'content-type': 'text/plain', connection: 'close' }).end(`${why}\n`);
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

function listen(server: Server, port: number): Promise<void> {
  server.unref();
  return new Promise((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', () => resolve()));
}
