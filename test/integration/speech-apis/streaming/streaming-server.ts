/** A provider's streaming API on a WebSocket: what all of them share in the tests, and the faults that any of them may have. */
import type { IncomingMessage } from 'node:http';

import { WebSocketServer, type WebSocket } from 'ws';

import { KEY } from '../speech-apis.ts';
import { Servers } from '../../../support/http-servers.ts';
import { WordListener } from './spoken-words.ts';

/** One connection, as a client made it. */
export interface Opened {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** Header and value. */
  readonly key: string;
  /** Messages that are not audio, in order. */
  readonly messages: unknown[];
  audioBytes: number;
  /** It is heard, and never answered. */
  dead: boolean;
}

interface Faults {
  /** Instead of the handshake. */
  status?: number | undefined;
  /** Ends the connection without a word after so much audio; once for each entry. */
  dropAfterBytes?: number[];
  /** Closes with this code after the handshake. */
  closeCode?: number | undefined;
  /** Sends this in place of each message, once it has heard something. */
  garbage?: string | undefined;
}

export interface FakeConnection {
  readonly listener: WordListener;
  /** A string is sent as it is, all else as JSON. */
  readonly send: (message: object | string) => void;
  /** Adds to {@link Opened.messages}. */
  readonly record: (message: unknown) => void;
  readonly close: (code?: number) => void;
}

export interface FakeApi {
  /** `pcm` arrives as binary messages unless {@link FakeSession} says otherwise. In Hz. */
  readonly sampleRate: number;
  /** @returns the status of a refusal */
  refuses(opened: Opened, headers: IncomingMessage['headers']): number | undefined;
  session(connection: FakeConnection): FakeSession;
}

export interface FakeSession {
  /** After {@link FakeConnection.listener} has heard it. */
  audio(): void;
  /** @param message a string where it is no JSON. @returns audio that it carries */
  text?(message: Readonly<Record<string, unknown>> | string): Buffer | undefined | void;
  /** Takes all messages of an API that has neither JSON nor bare audio. @returns audio that the message carries */
  raw?(data: Buffer, binary: boolean): Buffer | undefined;
}

export interface StreamingServer {
  /** `http://127.0.0.1:<port>`. */
  readonly url: string;
  readonly opened: Opened[];
  readonly faults: Faults;
  dropConnections(): void;
  stop(): Promise<void>;
}

const KEY_HEADERS = ['authorization', 'xi-api-key', 'x-api-key', 'ocp-apim-subscription-key'];

export async function startStreamingServer(api: FakeApi, { port = 0 }: { readonly port?: number } = {}): Promise<StreamingServer> {
  const servers = new Servers();
  const sockets = new WebSocketServer({ noServer: true });
  const opened: Opened[] = [];
  const faults: Faults = {};
  const server = await servers.http((_request, response) => response.writeHead(404).end(), {
    port,
    onUpgrade: (request, socket, head) => {
      const { pathname: path, searchParams } = new URL(request.url ?? '', 'http://localhost');
      const name = KEY_HEADERS.find((header) => request.headers[header] !== undefined);
      const key = `${name}: ${String(request.headers[name ?? ''])}`;
      const one: Opened = { path, query: Object.fromEntries(searchParams), key, messages: [], audioBytes: 0, dead: false };
      opened.push(one);
      const status = faults.status ?? (key.endsWith(KEY) ? api.refuses(one, request.headers) : 401);
      if (status !== undefined) socket.end(`HTTP/1.1 ${status} Refused\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`);
      else sockets.handleUpgrade(request, socket, head, (client) => serve(api, client, one, faults));
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    opened,
    faults,
    dropConnections: server.dropConnections,
    stop: () => servers.stop(),
  };
}

function serve(api: FakeApi, client: WebSocket, opened: Opened, faults: Faults): void {
  const { closeCode } = faults;
  if (closeCode !== undefined) return client.close(closeCode);
  const listener = new WordListener(api.sampleRate);
  const send = (message: object | string): void => {
    if (opened.dead) return;
    const garbage = opened.audioBytes > 0 ? faults.garbage : undefined;
    client.send(garbage ?? (typeof message === 'string' ? message : JSON.stringify(message)));
  };
  const record = (message: unknown): void => void opened.messages.push(message);
  const session = api.session({ listener, send, record, close: (code) => client.close(code) });
  const dropAfter = faults.dropAfterBytes?.shift();
  const hear = (pcm: Buffer): void => {
    opened.audioBytes += pcm.length;
    if (dropAfter !== undefined && opened.audioBytes >= dropAfter) return client.terminate();
    listener.hear(pcm);
    session.audio();
  };
  client.on('error', () => undefined);
  client.on('message', (data: Buffer, binary) => {
    if (session.raw !== undefined) {
      const pcm = session.raw(data, binary);
      if (pcm !== undefined) hear(pcm);
      return;
    }
    if (binary) return hear(data);
    const message = parsed(data.toString());
    const pcm = session.text?.(message);
    if (pcm === undefined) record(message);
    else hear(pcm);
  });
}

function parsed(text: string): Readonly<Record<string, unknown>> | string {
  try {
    return JSON.parse(text) as Readonly<Record<string, unknown>>;
  } catch {
    return text;
  }
}
