/**
 * Deepgram's streaming protocol, scripted: when it hears sound it takes the next script, says one more of its words for each piece of sound while it has
 * more, and all of them when it is asked for the final.
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

import { WebSocketServer, type WebSocket } from 'ws';

import { loudness } from './tones.ts';

export interface StreamedScript {
  readonly text: string;
  /** Between the request for the final and the final, in milliseconds; default 0. */
  readonly finalDelayMs?: number;
}

export interface StreamedConnection {
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  /** Of sound and silence. */
  audioBytes: number;
}

export interface StreamedEars {
  readonly connections: readonly StreamedConnection[];
  readonly onUpgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /** Scripts of the next turns. */
  hear(...scripts: readonly (string | StreamedScript)[]): void;
  reset(): void;
}

const BYTES_PER_MS = 32;
/** Of sound for each interim word. */
const MS_PER_WORD = 150;
/** Louder is sound: the codec leaves noise in silence. */
const SOUND = 0.02;

export function createStreamedEars(): StreamedEars {
  const server = new WebSocketServer({ noServer: true });
  const connections: StreamedConnection[] = [];
  const scripts: StreamedScript[] = [];
  /** The turn under way: it goes on on the next connection. */
  let turn: { readonly script: StreamedScript; soundMs: number } | undefined;

  const serve = (client: WebSocket, connection: StreamedConnection): void => {
    connections.push(connection);
    const answer = (transcript: string, more: object): void =>
      client.send(
        JSON.stringify({
          type: 'Results',
          start: 0,
          duration: 0,
          channel: { alternatives: [{ transcript, confidence: 1, words: [] }] },
          ...more,
        }),
      );
    const hear = (pcm: Buffer): void => {
      connection.audioBytes += pcm.length;
      if (loudness(new Int16Array(new Uint8Array(pcm).buffer)) < SOUND) return;
      turn ??= { script: scripts.shift() ?? { text: '' }, soundMs: 0 };
      const { text } = turn.script;
      const all = text.split(' ');
      const known = (): number => Math.min(all.length, Math.floor(turn!.soundMs / MS_PER_WORD));
      const before = known();
      turn.soundMs += pcm.length / BYTES_PER_MS;
      if (known() > before) answer(all.slice(0, known()).join(' '), { is_final: false });
    };
    const finalize = (): void => {
      const { text, finalDelayMs = 0 } = turn?.script ?? { text: '' };
      turn = undefined;
      setTimeout(() => answer(text, { is_final: true, from_finalize: true }), finalDelayMs);
    };
    client.on('error', () => undefined);
    client.on('message', (data: Buffer, binary) => {
      if (binary) hear(data);
      else if ((JSON.parse(data.toString()) as { type: string }).type === 'Finalize') finalize();
    });
  };

  return {
    connections,
    onUpgrade(request, socket, head) {
      const { pathname, searchParams: query } = new URL(request.url ?? '', 'http://localhost');
      if (pathname !== '/v1/listen') socket.end('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');
      else server.handleUpgrade(request, socket, head, (client) => serve(client, { query, headers: request.headers, audioBytes: 0 }));
    },
    hear: (...next) => void scripts.push(...next.map((script) => (typeof script === 'string' ? { text: script } : script))),
    reset() {
      connections.length = 0;
      scripts.length = 0;
      turn = undefined;
    },
  };
}
