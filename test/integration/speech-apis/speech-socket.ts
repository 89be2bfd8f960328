/** Serves a provider's API on a WebSocket: it decides who may connect, and keeps each connection. */
import type { IncomingHttpHeaders, RequestListener } from 'node:http';

import { WebSocketServer, type WebSocket } from 'ws';

import { Servers } from '../../support/http-servers.ts';
import { KEY, queryIn } from './speech-apis.ts';

/** One connection, as a client asked for it. */
export interface SpeechConnection {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** Header and value of the key. */
  readonly key: string;
}

interface SpeechSocketOptions<Opened extends SpeechConnection> {
  /** Adds further fields to the record of a connection. */
  readonly opens: (socket: SpeechConnection) => Opened;
  /** @returns the status of a refusal; whoever has the wrong key is refused before */
  readonly refuses: (opened: Opened, headers: IncomingHttpHeaders) => number | undefined;
  /** Faults of the API; `status` stands in for every handshake. */
  readonly faults: { readonly status?: number | undefined };
  readonly serve: (client: WebSocket, opened: Opened) => void;
  /** Answers requests over HTTP; without it they find nothing. */
  readonly listener?: RequestListener;
  readonly port?: number;
}

export interface SpeechSocket<Opened> {
  /** Address, `http://127.0.0.1:<port>`. */
  readonly url: string;
  readonly opened: Opened[];
  dropConnections(): void;
  stop(): Promise<void>;
}

const KEY_HEADERS = ['authorization', 'xi-api-key', 'x-api-key', 'ocp-apim-subscription-key'];

export async function startSpeechSocket<Opened extends SpeechConnection>({
  opens,
  refuses,
  faults,
  serve,
  listener = (_request, response) => response.writeHead(404).end(),
  port = 0,
}: SpeechSocketOptions<Opened>): Promise<SpeechSocket<Opened>> {
  const servers = new Servers();
  const sockets = new WebSocketServer({ noServer: true });
  const opened: Opened[] = [];
  const { port: listening, dropConnections } = await servers.http(listener, {
    port,
    onUpgrade: (request, socket, head) => {
      const { pathname: path, searchParams } = new URL(request.url ?? '', 'http://localhost');
      const one = opens({ path, query: queryIn(searchParams), key: keyOf(request.headers) });
      opened.push(one);
      const status = faults.status ?? (one.key.endsWith(KEY) ? refuses(one, request.headers) : 401);
      if (status !== undefined) socket.end(`HTTP/1.1 ${status} Refused\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`);
      else sockets.handleUpgrade(request, socket, head, (client) => serve(client, one));
    },
  });
  return { url: `http://127.0.0.1:${listening}`, opened, dropConnections, stop: () => servers.stop() };
}

export function keyOf(headers: IncomingHttpHeaders): string {
  const name = KEY_HEADERS.find((header) => headers[header] !== undefined);
  return `${name}: ${String(headers[name ?? ''])}`;
}
