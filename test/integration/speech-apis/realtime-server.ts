/** Serves OpenAI's Realtime API on a WebSocket, with what the server hears and answers scripted. */
import type { WebSocket } from 'ws';

import { systemClock } from '../../../platform/clock.ts';
import { FakeRealtime, type RealtimeAnswer, type RealtimeQuestion } from '../../support/fake-realtime.ts';
import { startSpeechSocket, type SpeechConnection, type SpeechSocket } from './speech-socket.ts';

interface Opened extends SpeechConnection {
  readonly client: { drop(): void };
  /** Set once it is served. */
  session?: FakeRealtime;
}

export interface RealtimeServer extends SpeechSocket<Opened> {
  readonly faults: { status?: number | undefined };
}

/** @param options.hears words of the sounds, one after the other */
export async function startRealtimeServer({
  hears,
  answer,
}: {
  readonly hears: string[];
  readonly answer: (question: RealtimeQuestion) => RealtimeAnswer;
}): Promise<RealtimeServer> {
  const faults: RealtimeServer['faults'] = {};
  const serve = (client: WebSocket, opened: Opened): void => {
    opened.client.drop = () => client.terminate();
    opened.session = new FakeRealtime({
      clock: systemClock,
      send: (event) => client.send(JSON.stringify(event)),
      drop: () => client.terminate(),
      hear: () => hears.shift() ?? '',
      answer: (question) => ({ delayMs: 1, msPerWord: 1, ...answer(question) }),
      transcribesMs: 1,
    });
    client.on('error', () => undefined).on('close', () => opened.session?.close());
    client.on('message', (data: Buffer) => opened.session?.receive(JSON.parse(data.toString()) as Readonly<Record<string, unknown>>));
  };
  const socket = await startSpeechSocket<Opened>({
    opens: (one) => ({ ...one, client: { drop: () => undefined } }),
    refuses: ({ path, query }) => (path === '/v1/realtime' && query['model'] === 'gpt-realtime' ? undefined : 404),
    faults,
    serve,
  });
  return { ...socket, faults };
}
