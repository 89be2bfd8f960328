/** Serves a provider's streaming API on a WebSocket: what all of them share in the tests, and the faults that any of them may have. */
import type { IncomingHttpHeaders } from 'node:http';

import type { WebSocket } from 'ws';

import { startSpeechSocket, type SpeechConnection, type SpeechSocket } from '../speech-socket.ts';
import { WordListener } from './spoken-words.ts';

export interface Opened extends SpeechConnection {
  /** Messages that are not audio, in order. */
  readonly messages: unknown[];
  audioBytes: number;
  /** Set for a connection that is heard, and never answered. */
  dead: boolean;
  closed: boolean;
}

interface Faults {
  /** Status that answers every handshake. */
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
  /** Sends a string as it is, all else as JSON. */
  readonly send: (message: object | string) => void;
  /** Adds to {@link Opened.messages}. */
  readonly record: (message: unknown) => void;
  readonly close: (code?: number) => void;
}

export interface FakeApi {
  /** Samples per second, in Hz. `pcm` arrives as binary messages unless {@link FakeSession} says otherwise. */
  readonly sampleRate: number;
  /** @returns the status of a refusal */
  refuses(opened: Opened, headers: IncomingHttpHeaders): number | undefined;
  session(connection: FakeConnection): FakeSession;
}

export interface FakeSession {
  /** Called after {@link FakeConnection.listener} has heard the audio. */
  audio(): void;
  /** @param message a string where it is no JSON. @returns audio that it carries */
  text?(message: Readonly<Record<string, unknown>> | string): Buffer | undefined | void;
  /** Takes all messages of an API that has neither JSON nor bare audio. @returns audio that the message carries */
  raw?(data: Buffer, binary: boolean): Buffer | undefined;
}

export interface StreamingServer extends SpeechSocket<Opened> {
  readonly faults: Faults;
}

export async function startStreamingServer(api: FakeApi, { port = 0 }: { readonly port?: number } = {}): Promise<StreamingServer> {
  const faults: Faults = {};
  const socket = await startSpeechSocket<Opened>({
    opens: (one) => ({ ...one, messages: [], audioBytes: 0, dead: false, closed: false }),
    refuses: (one, headers) => api.refuses(one, headers),
    faults,
    port,
    serve: (client, one) => serve(api, client, one, faults),
  });
  return { ...socket, faults };
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
  client.on('error', () => undefined).on('close', () => (opened.closed = true));
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
