/**
 * Language model, speech to text and text to speech with fixed delays, as a server that speaks OpenAI's protocol: a process of its own, so
 * that its CPU time is its own. Whom it works for stands in the address: `/<caller>/v1/…`; a caller whose name begins with `long`
 * gets long answers, and for one that begins with `streamed` speech to text streams. `GET /<caller>/busy` answers when it worked.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { WebSocketServer, type WebSocket } from 'ws';

import type { Interval } from './added-latency.ts';
import { delays } from './provider-delays.ts';

const sampleRate = 24_000;
const msPerCharacter = 40;
const brief = 'Very well, thank you.';
const long = 'This goes on and on, '.repeat(25);

const busy = new Map<string, Interval[]>();
const now = (): number => performance.timeOrigin + performance.now();

const server = createServer((request, response) => {
  const [, caller = '', ...rest] = (request.url ?? '').split('?')[0]!.split('/');
  const path = rest.join('/');
  if (path === 'busy') response.end(JSON.stringify(busy.get(caller) ?? []));
  else void serve(request, response, { caller, path });
});
const sockets = new WebSocketServer({ noServer: true });
server.on('upgrade', (request, socket, head) => {
  const [, caller = ''] = (request.url ?? '').split('/');
  if (!caller.startsWith('streamed')) socket.end('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');
  else sockets.handleUpgrade(request, socket, head, (client) => client.on('message', (data: Buffer) => transcribe(client, data, caller)));
});
server.keepAliveTimeout = 120_000;
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
process.once('SIGTERM', () => process.exit());

/** OpenAI's realtime transcription, without interim words. */
function transcribe(client: WebSocket, data: Buffer, caller: string): void {
  const { type } = JSON.parse(data.toString()) as { readonly type: string };
  const send = (event: object): void => client.send(JSON.stringify(event));
  if (type === 'session.update') send({ type: 'session.updated', session: {} });
  if (type !== 'input_audio_buffer.commit') return;
  const from = now();
  const item = { item_id: String(from) };
  send({ type: 'input_audio_buffer.committed', ...item });
  setTimeout(() => {
    send({ type: 'conversation.item.input_audio_transcription.completed', ...item, transcript: 'How are you?' });
    worked(caller, from);
  }, delays.streamedSttMs);
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
    send: (response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('{"text":"How are you?"}'),
  },
  'v1/chat/completions': {
    delayMs: delays.llmMs,
    send: (response, _body, caller) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const chunk = (delta: object, finish: string | null): string =>
        `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 0, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
      const words = (caller.startsWith('long') ? long : brief).match(/\S+\s*/g) ?? [];
      for (const content of words) response.write(chunk({ role: 'assistant', content }, null));
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
