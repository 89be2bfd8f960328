/**
 * Language model, speech to text and text to speech with fixed delays, as a server that speaks OpenAI's protocol: a process of its own, so
 * that its CPU time is its own. Whom it works for stands in the address: `/<caller>/v1/…`; a caller with `long` in its name
 * gets long answers, and for one with `streamed` speech to text streams. `GET /<caller>/busy` answers when it worked, and `GET /<caller>/words` when
 * it said how many words it had heard.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { WebSocketServer, type WebSocket } from 'ws';

import { loudness } from '../../support/tones.ts';
import type { Interval } from './added-latency.ts';
import type { KnownWords } from './plan.ts';
import { delays, words } from './provider-delays.ts';

const sampleRate = 24_000;
const msPerCharacter = 40;
const brief = 'Very well, thank you.';
const long = 'This goes on and on, '.repeat(25);
const heard = 'How are you, my very dear old friend?'.split(' ');
/** Louder is speech: the codec leaves noise in silence. */
const SPEECH = 0.02;
/** Of realtime transcription: 16 bit at 24 kHz. */
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

/** OpenAI's realtime transcription. */
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
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const from = now();
  const answer = answers[path];
  if (answer === undefined) {
    response.writeHead(404).end();
    return;
  }
  await new Promise((resolve) => setTimeout(resolve, answer.delayMs));
  answer.send(response, Buffer.concat(chunks), caller);
  worked(caller, from);
}

const answers: Readonly<
  Record<string, { readonly delayMs: number; readonly send: (response: ServerResponse, body: Buffer, caller: string) => void }>
> = {
  'v1/audio/transcriptions': {
    delayMs: delays.sttMs,
    send: (response, _body, caller) => {
      knows(caller, heard.length);
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ text: heard.join(' ') }));
    },
  },
  'v1/chat/completions': {
    delayMs: delays.llmMs,
    send: (response, _body, caller) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const chunk = (delta: object, finish: string | null): string =>
        `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 0, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
      for (const content of (caller.includes('long') ? long : brief).match(/\S+\s*/g) ?? [])
        response.write(chunk({ role: 'assistant', content }, null));
      response.end(`${chunk({}, 'stop')}data: [DONE]\n\n`);
    },
  },
  'v1/audio/speech': {
    delayMs: delays.ttsMs,
    send: (response, body) => {
      const { input = '' } = JSON.parse(body.toString()) as { readonly input?: string };
      response.writeHead(200, { 'content-type': 'audio/pcm' }).end(tone(input.length * msPerCharacter));
    },
  },
};

function tone(ms: number): Buffer {
  const samples = new Int16Array((sampleRate * ms) / 1_000);
  for (let index = 0; index < samples.length; index += 1) samples[index] = 8_000 * Math.sin((2 * Math.PI * 440 * index) / sampleRate);
  return Buffer.from(samples.buffer);
}
