/** OpenAI's protocol over what this machine can do by itself. Listens on the loopback address alone. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { Logger } from '../../platform/logging.ts';
import { readBytes } from '../../platform/read-bytes.ts';
import { readWav, wavHeader } from '../../platform/wav.ts';
import { answerByRules, valueFor, type RuleMessage, type RuleTool, type Schema } from './chat-rules.ts';
import { analysed, saidIn } from './analysis.ts';
import { createExampleMcp, isForMcp } from './example-mcp.ts';
import { answerOfOrders, isForOrders } from './example-orders.ts';
import { createRealtime } from './realtime.ts';
import { SPOKEN_RATE, type Speech } from './speech.ts';

export interface DevSpeechServer {
  /** `http://127.0.0.1:<port>/<token>/v1`. */
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

/** Longest request, in bytes: some minutes of sound. */
const LARGEST = 32 * 1024 * 1024;

export async function startDevSpeechServer(options: {
  readonly port: number;
  /** First part of the path of everything but `/healthz`, so that other accounts of the machine find nothing. */
  readonly token?: string | undefined;
  readonly speech: Speech;
  readonly logger: Logger;
}): Promise<DevSpeechServer> {
  const { speech, logger } = options;
  const routes: Readonly<Record<string, (request: IncomingMessage, response: ServerResponse) => Promise<void>>> = {
    'GET /healthz': async (_request, response) => sendJson(response, { status: 'ok' }),
    'GET /v1/models': async (_request, response) =>
      sendJson(response, { object: 'list', data: [{ id: 'rules', object: 'model', owned_by: 'dev-speech' }] }),
    'POST /v1/audio/speech': async (request, response) => {
      const body = await readJson(request);
      const text = typeof body['input'] === 'string' ? body['input'] : '';
      if (text.trim() === '') throw new BadRequestError('input: a text is needed');
      const samples = await speech.speak({ text, language: wordOf(body['language'], 'en-US'), voice: wordOf(body['voice'], '') });
      const data = Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);
      const wav = body['response_format'] === 'wav';
      response.writeHead(200, { 'content-type': wav ? 'audio/wav' : 'audio/pcm' });
      if (wav) response.write(wavHeader({ sampleRate: SPOKEN_RATE, dataBytes: data.length }));
      response.end(data);
      logger.debug({ text, seconds: samples.length / SPOKEN_RATE }, 'spoke');
    },
    'POST /v1/audio/transcriptions': async (request, response) => {
      const body = await readBody(request);
      const { file, language } = await formOf(body, request.headers['content-type'] ?? '');
      const heard = await speech.hear(readWav(file), language);
      if (heard.doubtful) logger.warn({ text: heard.text }, 'heard none of the known phrases; the transcript is a guess');
      else logger.debug({ text: heard.text }, 'heard');
      sendJson(response, { text: heard.text, doubtful: heard.doubtful });
    },
    'POST /v1/chat/completions': async (request, response) => sendChat(await readJson(request), response),
  };

  const exampleMcp = createExampleMcp();
  const secret = options.token === undefined ? '' : `/${options.token}`;
  const server = createServer((request, response) => {
    const path = (request.url ?? '').replace(/\?.*/, '');
    const known = path.startsWith(`${secret}/v1/`) ? path.slice(secret.length) : path === '/healthz' ? path : '';
    const route = routes[`${request.method} ${known}`];
    if (isForMcp(request)) {
      exampleMcp(request, response).catch((error: unknown) => {
        logger.error({ err: error }, 'the MCP server of the examples failed');
        if (response.headersSent) response.destroy();
        else sendError(response, 500, 'dev-speech failed: see its log');
      });
      return;
    }
    if (isForOrders(request)) {
      const order = answerOfOrders(path, Date.now());
      if (order === undefined) sendError(response, 404, 'there is no such order');
      else sendJson(response, order);
      return;
    }
    if (route === undefined) {
      sendError(response, 404, 'there is nothing at this address');
      return;
    }
    route(request, response).catch((error: unknown) => {
      const bad = error instanceof BadRequestError || error instanceof RangeError || error instanceof SyntaxError;
      if (!bad) logger.error({ err: error }, 'a request failed');
      if (response.headersSent) response.destroy();
      else sendError(response, bad ? 400 : 500, bad ? error.message : 'dev-speech failed: see its log');
    });
  });
  const realtime = createRealtime({ speech, logger });
  server.on('upgrade', (request, socket, head) => {
    if ((request.url ?? '').replace(/\?.*/, '') === `${secret}/v1/realtime`)
      realtime.handleUpgrade(request, socket, head, (client) => realtime.emit('connection', client));
    else socket.end('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(options.port, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${secret}/v1`,
    port,
    close: () => {
      for (const client of realtime.clients) client.terminate();
      return new Promise((resolve) => server.close(() => resolve()).closeAllConnections());
    },
  };
}

class BadRequestError extends Error {
  override readonly name = 'BadRequestError';
}

const wordOf = (value: unknown, otherwise: string): string => (typeof value === 'string' && value !== '' ? value : otherwise);

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const body = await readBytes(request, LARGEST);
  if (body === undefined) throw new BadRequestError(`the request is longer than ${LARGEST} bytes`);
  return body;
}

async function readJson(request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  const value: unknown = JSON.parse((await readBody(request)).toString('utf8'));
  if (typeof value !== 'object' || value === null) throw new BadRequestError('the body has to be a JSON object');
  return value as Readonly<Record<string, unknown>>;
}

async function formOf(body: Buffer, type: string): Promise<{ readonly file: Buffer; readonly language: string | undefined }> {
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData().catch(() => {
    throw new BadRequestError('the body has to be multipart/form-data');
  });
  const file = form.get('file');
  if (!(file instanceof File)) throw new BadRequestError('file: a WAV file is needed');
  const language = form.get('language');
  return { file: Buffer.from(await file.arrayBuffer()), language: typeof language === 'string' && language !== '' ? language : undefined };
}

function sendChat(body: Readonly<Record<string, unknown>>, response: ServerResponse): void {
  const messages = listOf(body['messages']).map((message): RuleMessage => ({
    role: wordOf(message['role'], ''),
    content: textOf(message['content']),
  }));
  const tools = listOf(body['tools']).flatMap((tool): readonly RuleTool[] => {
    const offered = tool['function'] as { readonly name?: string; readonly description?: string; readonly parameters?: Schema } | undefined;
    return offered?.name === undefined
      ? []
      : [{ name: offered.name, description: offered.description ?? '', parameters: offered.parameters ?? {} }];
  });
  const schema = wantedSchema(body['response_format']);
  const { text, calls } =
    schema === undefined ? answerByRules(messages, tools) : { text: JSON.stringify(fitting(schema, messages)), calls: [] };
  const toolCalls = calls.map((call, index) => ({
    index,
    id: `call_${Date.now().toString(36)}${index}`,
    type: 'function',
    function: { name: call.name, arguments: JSON.stringify(call.arguments) },
  }));
  const reason = calls.length > 0 ? 'tool_calls' : 'stop';
  const base = { id: `chatcmpl-${Date.now().toString(36)}`, created: Math.floor(Date.now() / 1000), model: wordOf(body['model'], 'rules') };
  if (body['stream'] !== true) {
    const message = { role: 'assistant', content: text, ...(calls.length > 0 && { tool_calls: toolCalls }) };
    sendJson(response, { ...base, object: 'chat.completion', choices: [{ index: 0, message, finish_reason: reason }] });
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  const send = (delta: unknown, finish: string | null = null): void => {
    const choices = [{ index: 0, delta, finish_reason: finish }];
    response.write(`data: ${JSON.stringify({ ...base, object: 'chat.completion.chunk', choices })}\n\n`);
  };
  send({ role: 'assistant', content: '' });
  for (const word of text.split(/(?<= )/)) if (word !== '') send({ content: word });
  for (const call of toolCalls) send({ tool_calls: [call] });
  send({}, reason);
  response.end('data: [DONE]\n\n');
}

const listOf = (value: unknown): readonly Readonly<Record<string, unknown>>[] =>
  Array.isArray(value) ? value.filter((item): item is Readonly<Record<string, unknown>> => typeof item === 'object' && item !== null) : [];

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return listOf(content)
    .map(({ text }) => wordOf(text, ''))
    .join('');
}

function wantedSchema(format: unknown): Schema | undefined {
  const { type, json_schema: named } = (format ?? {}) as { readonly type?: string; readonly json_schema?: { readonly schema?: Schema } };
  if (type === 'json_schema') return named?.schema ?? {};
  return type === 'json_object' ? {} : undefined;
}

/** Something that has the form that was asked for. */
function fitting(schema: Schema, messages: readonly RuleMessage[]): unknown {
  const said = messages.findLast(({ role }) => role === 'user')?.content ?? '';
  const transcript = saidIn(said);
  if (transcript !== undefined) return analysed(schema, transcript);
  return valueFor('', { type: 'object', ...schema }, said.slice(0, 400));
}

function sendJson(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

function sendError(response: ServerResponse, status: number, message: string): void {
  response
    .writeHead(status, { 'content-type': 'application/json' })
    .end(JSON.stringify({ error: { message, type: 'dev_speech', param: null, code: null } }));
}
