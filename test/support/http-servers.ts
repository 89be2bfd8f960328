/**
 * Runs real servers on loopback addresses, all ended together: with {@link startEndpoint} one that keeps what it was asked and answers as
 * the test says.
 */
import {
  createServer as createHttp,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttps } from 'node:https';
import { type AddressInfo, createServer as createTcp, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** Gets the requests for a WebSocket. */
type UpgradeListener = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

export interface TestServer {
  readonly port: number;
  /** Returns how many connections there have been. */
  readonly connections: () => number;
  /** Returns how many connections are open. */
  readonly open: () => number;
  /** Ends the connections, but not the server. */
  readonly dropConnections: () => void;
}

/** Writes a body that never ends, for as long as somebody reads it. @param onWrite gets the bytes of each write that was taken */
export function writeWithoutEnd(response: ServerResponse, onWrite: (bytes: number) => void): void {
  const chunk = Buffer.alloc(65_536);
  const more = (): void => {
    while (!response.destroyed && response.write(chunk)) onWrite(chunk.length);
  };
  response.on('drain', more);
  more();
}

export class Servers {
  readonly #stops: (() => Promise<void>)[] = [];

  http(
    listener: RequestListener,
    options: { address?: string; port?: number; keepAliveTimeout?: number; onUpgrade?: UpgradeListener } = {},
  ): Promise<TestServer> {
    const server = createHttp({ keepAliveTimeout: options.keepAliveTimeout ?? 0 }, listener);
    if (options.onUpgrade !== undefined) server.on('upgrade', options.onUpgrade);
    return this.#listen(server, options);
  }

  https(listener: RequestListener, identity: { key: string; cert: string }): Promise<TestServer> {
    return this.#listen(createHttps({ ...identity, keepAliveTimeout: 0 }, listener));
  }

  tcp(onConnection: (socket: Socket) => void, options: { address?: string; port?: number } = {}): Promise<TestServer> {
    return this.#listen(createTcp(onConnection), options);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#stops.splice(0).map((stop) => stop()));
  }

  async #listen(server: Server, options: { address?: string; port?: number } = {}): Promise<TestServer> {
    let connections = 0;
    const sockets = new Set<Socket>();
    server.on('connection', (socket: Socket) => {
      connections += 1;
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('close', () => sockets.delete(socket));
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(options.port ?? 0, options.address ?? '127.0.0.1', resolve);
    });
    const dropConnections = (): void => sockets.forEach((socket) => socket.destroy());
    this.#stops.push(
      () =>
        new Promise((resolve) => {
          server.close(() => resolve());
          dropConnections();
        }),
    );
    return { port: (server.address() as AddressInfo).port, connections: () => connections, open: () => sockets.size, dropConnections };
  }
}

/** Makes a listener for whole requests: it hears nothing of a client that goes away before the end of one. */
export function whole(listener: (request: IncomingMessage, response: ServerResponse, body: Buffer) => unknown): RequestListener {
  return (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', () => undefined);
    request.on('end', () => void listener(request, response, Buffer.concat(chunks)));
  };
}

export interface ReceivedRequest {
  readonly method: string;
  /** Path and query of the request. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly raw: Buffer;
}

export interface TestEndpoint {
  readonly url: string;
  readonly host: string;
  readonly requests: ReceivedRequest[];
  /** Returns how many connections are open. */
  readonly open: () => number;
}

export async function startEndpoint(
  servers: Servers,
  answer: (response: ServerResponse, request: ReceivedRequest) => void,
): Promise<TestEndpoint> {
  const requests: ReceivedRequest[] = [];
  const server = await servers.http(
    whole(({ method = '', url = '', headers }, response, raw) => {
      const received = { method, url, headers, body: raw.toString(), raw };
      requests.push(received);
      answer(response, received);
    }),
  );
  const host = `127.0.0.1:${server.port}`;
  return { url: `http://${host}`, host, requests, open: server.open };
}

export function sendJson(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
