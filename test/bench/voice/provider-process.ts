/**
 * Language model, speech to text and text to speech with fixed delays, as a server that speaks OpenAI's protocol: a process of its own, so
 * that its CPU time is its own. Whom it works for stands in the address: `/<caller>/v1/…`; a caller with `long` in its name
 * gets long answers, and for one with `streamed` speech to text streams. `GET /<caller>/busy` answers when it worked, and `GET /<caller>/words` when
 * it said how many words it had heard.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

import { WebSocketServer, type WebSocket } from 'ws';

import { answerAsProvider, SPOKEN_RATE } from '../../../local-stack/speech/provider-protocol.ts';
import { loudness, tone } from '../../support/tones.ts';
import type { Interval } from './added-latency.ts';
import type { KnownWords } from './plan.ts';
import { delays, words } from './provider-delays.ts';

const msPerCharacter = 40;
const brief = 'Very well, thank you.';
const long = 'This goes on and on, '.repeat(25);
const heard = 'How are you, my very dear old friend?'.split(' ');
/** Louder sound is speech: the codec leaves noise in silence. */
const SPEECH = 0.02;
/** Rate of realtime transcription: 16 bit at 24 kHz. */
const BYTES_PER_MS = 48;

const busy = new Map<string, Interval[]>();
const known = new Map<string, KnownWords[]>();
const now = (): number => performance.timeOrigin + performance.now();

const server = createServer((request, response) => {
  const [, caller = '', ...rest] = (request.url ?? '').split('?')[0]!.split('/');
  const path = rest.join('/');
  if (path === 'busy') response.end(JSON.stringify(busy.get(caller) ?? []));
  else if (path === 'words') response.end(JSON.stringify(known.get(caller) ?? []));
  else void serve(request, response, { caller, path });
});
const sockets = new WebSocketServer({ noServer: true });
server.on('upgrade', (request, socket, head) => {
  const [, caller = ''] = (request.url ?? '').split('/');
  if (!caller.includes('streamed')) socket.end('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');
  else sockets.handleUpgrade(request, socket, head, (client) => transcribe(client, caller));
});
server.keepAliveTimeout = 120_000;
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
process.once('SIGTERM', () => process.exit());

/** Speaks OpenAI's realtime transcription. */
function transcribe(client: WebSocket, caller: string): void {
  const send = (event: object): void => client.send(JSON.stringify(event));
  let [turn, speechMs] = [0, 0];
  const spoken = (): number => Math.min(heard.length, Math.floor(speechMs / words.everyMs));
  const hear = (pcm: Buffer): void => {
    const before = spoken();
    if (loudness(new Int16Array(new Uint8Array(pcm).buffer)) >= SPEECH) speechMs += pcm.length / BYTES_PER_MS;
    const [item_id, count] = [String(turn), spoken()];
    if (count === before) return;
    setTimeout(() => {
      // The final has these words, too.
      if (item_id !== String(turn)) return;
      knows(caller, count);
      send({ type: 'conversation.item.input_audio_transcription.delta', item_id, delta: `${heard.slice(before, count).join(' ')} ` });
    }, words.lateMs);
  };
  const commit = (): void => {
    const from = now();
    const item = { item_id: String(turn) };
    const transcript = heard.slice(0, Math.max(1, spoken())).join(' ');
    [turn, speechMs] = [turn + 1, 0];
    send({ type: 'input_audio_buffer.committed', ...item });
    setTimeout(() => {
      knows(caller, transcript.split(' ').length);
      send({ type: 'conversation.item.input_audio_transcription.completed', ...item, transcript });
      worked(caller, from);
    }, delays.streamedSttMs);
  };
  client.on('message', (data: Buffer) => {
    const { type, audio = '' } = JSON.parse(data.toString()) as { readonly type: string; readonly audio?: string };
    if (type === 'session.update') send({ type: 'session.updated', session: {} });
    if (type === 'input_audio_buffer.append') hear(Buffer.from(audio, 'base64'));
    if (type === 'input_audio_buffer.commit') commit();
  });
}

function knows(caller: string, count: number): void {
  known.set(caller, [...(known.get(caller) ?? []), { at: now(), count }]);
}

function worked(caller: string, from: number): void {
  const all = busy.get(caller) ?? [];
  all.push({ from, to: now() });
  busy.set(caller, all);
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  { caller, path }: { readonly caller: string; readonly path: string },
): Promise<void> {
  const body = Buffer.concat(await request.toArray());
  const from = now();
  const isKnown = await answerAsProvider(`/${path}`, { headers: request.headers, body }, response, {
    chat: () => ({ delayMs: delays.llmMs, text: caller.includes('long') ? long : brief }),
    async transcription() {
      await delay(delays.sttMs);
      knows(caller, heard.length);
      return { text: heard.join(' ') };
    },
    speech: ({ input }) => ({
      delayMs: delays.ttsMs,
      samples: tone({ frequency: 440, seconds: (input.length * msPerCharacter) / 1_000, sampleRate: SPOKEN_RATE }),
    }),
  });
  if (isKnown) worked(caller, from);
  else response.writeHead(404).end();
}
