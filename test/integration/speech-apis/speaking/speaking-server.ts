/** Serves a provider's text to speech on a WebSocket, and over HTTP: what both fakes share, and the faults that any of them may have. */
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

import type { WebSocket } from 'ws';

import { sendJson, whole } from '../../../support/http-servers.ts';
import { KEY } from '../speech-apis.ts';
import { keyOf, startSpeechSocket, type SpeechConnection, type SpeechSocket } from '../speech-socket.ts';
import { soundOf } from './spoken-text.ts';

export type SpeakingMessage = Readonly<Record<string, unknown>>;

interface Opened extends SpeechConnection {
  readonly messages: SpeakingMessage[];
}

interface Faults {
  /** Status that answers every handshake, and every request over HTTP. */
  status?: number | undefined;
  /** Ends the connection without a word after so many pieces of sound; once for each entry. */
  dropAfter: number[];
  /** Closes with this code in place of a piece of sound; once for each entry. */
  closeCodes: number[];
  /** Sends this in place of a sentence; once for each entry. */
  instead: (object | string)[];
  /** Hears everything and says nothing. */
  silent?: boolean | undefined;
  /** Milliseconds before the first sound of a sentence. */
  firstMs: number;
  /** Milliseconds between two pieces of sound. */
  pieceMs: number;
  /** Holds the pieces of a sentence after the first one until it resolves. */
  held?: Promise<void> | undefined;
  /** Returns the time of the API, in milliseconds: it stands still until a test moves it. */
  now: () => number;
}

export interface SpeakingConnection {
  readonly send: (message: object | string) => void;
  readonly close: (code: number) => void;
  /** Returns the time, in milliseconds. */
  readonly now: () => number;
  /** Sends a text in pieces, one after the other. @returns when all has been sent */
  readonly speak: (text: string, send: (piece: string, pcm: Buffer) => void) => Promise<void>;
}

export interface SpeakingApi {
  /** @returns the status of a refusal */
  refuses(opened: Opened, headers: IncomingHttpHeaders): number | undefined;
  /** @returns a function that takes each message */
  session(connection: SpeakingConnection): (message: SpeakingMessage) => void;
  /** @returns the text that a request over HTTP wants to hear, or the status of a refusal */
  http?(path: string, body: SpeakingMessage): string | number;
}

export interface SpeakingServer extends SpeechSocket<Opened> {
  readonly requests: { readonly path: string; readonly body: SpeakingMessage }[];
  readonly faults: Faults;
  /** Returns the most WebSockets and requests that there were at once. */
  readonly most: () => number;
}

const PIECE = /.{1,7}(?: +$)?/gs;

export async function startSpeakingServer(api: SpeakingApi): Promise<SpeakingServer> {
  const requests: { readonly path: string; readonly body: SpeakingMessage }[] = [];
  const faults: Faults = { dropAfter: [], closeCodes: [], instead: [], firstMs: 0, pieceMs: 0, now: () => 0 };
  const [usage, most] = peak();

  const answer = async (path: string, body: SpeakingMessage, response: ServerResponse): Promise<void> => {
    requests.push({ path, body });
    const done = usage();
    const text = faults.status ?? api.http?.(path, body) ?? 404;
    if (typeof text === 'number') sendJson(response, {}, text);
    else {
      await speak(text, faults, (_piece, pcm) => void response.write(pcm));
      response.end();
    }
    done();
  };
  const listener = whole(({ url: path = '', method, headers }, response, raw) => {
    if (method !== 'POST') return response.writeHead(405).end();
    if (!keyOf(headers).endsWith(KEY)) return sendJson(response, {}, 401);
    return void answer(path, JSON.parse(raw.toString()) as SpeakingMessage, response);
  });
  const socket = await startSpeechSocket<Opened>({
    opens: (one) => ({ ...one, messages: [] }),
    refuses: (one, headers) => api.refuses(one, headers),
    faults,
    listener,
    serve: (client, one) => {
      client.on('close', usage());
      serve(api, client, one, faults);
    },
  });
  return { ...socket, requests, faults, most };
}

/** @returns a function that counts one more, until its result is called, and one that returns the most that there were */
function peak(): readonly [begin: () => () => void, most: () => number] {
  let [now, most] = [0, 0];
  const begin = (): (() => void) => {
    now += 1;
    most = Math.max(most, now);
    return () => void (now -= 1);
  };
  return [begin, () => most];
}

async function speak(text: string, { firstMs, pieceMs, held }: Faults, send: (piece: string, pcm: Buffer) => void): Promise<void> {
  await delay(firstMs);
  // Silence at the end belongs to the last word: no piece is a space alone.
  for (const piece of text.match(PIECE) ?? []) {
    send(piece, soundOf(piece));
    await delay(pieceMs);
    await held;
  }
}

function serve(api: SpeakingApi, client: WebSocket, { messages }: Opened, faults: Faults): void {
  let left = faults.dropAfter.shift();
  const send = (message: object | string): void => {
    if (faults.silent !== true) client.send(typeof message === 'string' ? message : JSON.stringify(message));
  };
  const piece = (say: () => void): void => {
    if (client.readyState !== client.OPEN) return;
    const code = faults.closeCodes.shift();
    if (code !== undefined) return client.close(code);
    if (left !== undefined && (left -= 1) < 0) return client.terminate();
    say();
  };
  const take = api.session({
    send,
    close: (code) => client.close(code),
    now: () => faults.now(),
    speak: async (text, say) => {
      const instead = faults.instead.shift();
      if (instead !== undefined) send(instead);
      else await speak(text, faults, (...sound) => piece(() => say(...sound)));
    },
  });
  client.on('error', () => undefined);
  client.on('message', (data: Buffer) => {
    const message = JSON.parse(data.toString()) as SpeakingMessage;
    messages.push(message);
    take(message);
  });
}
