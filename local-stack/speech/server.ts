/** OpenAI's protocol over what this machine can do by itself. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { Logger } from '../../platform/logging.ts';
import { readBytes } from '../../platform/read-bytes.ts';
import { answerByRules, valueFor, type RuleMessage, type RuleTool, type Schema } from './chat-rules.ts';
import { analysed, saidIn } from './analysis.ts';
import { createExampleMcp, isForMcp } from './example-mcp.ts';
import { answerOfOrders, isForOrders } from './example-orders.ts';
import {
  answerAsProvider,
  BadRequestError,
  sendError,
  sendJson,
  SPOKEN_RATE,
  type ChatScript,
  type ProviderHandlers,
} from './provider-protocol.ts';
import { createRealtime } from './realtime.ts';
import type { Speech } from './speech.ts';

export interface DevSpeechServer {
  /** `http://127.0.0.1:<port>/<token>/v1`. */
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

/** Longest request, in bytes: some minutes of sound. */
const LARGEST = 32 * 1024 * 1024;

export async function startDevSpeechServer(options: {
  /** Address to listen on. */
  readonly host: string;
  readonly port: number;
  /** First part of the path of everything but `/healthz`, so that other accounts of the machine find nothing. */
  readonly token?: string | undefined;
  readonly speech: Speech;
  readonly logger: Logger;
}): Promise<DevSpeechServer> {
  const { speech, logger } = options;
  const handlers: ProviderHandlers = {
    chat: ({ messages, body }) => decideAnswer(messages, body),
    async transcription({ samples, sampleRate, language }) {
      const { text, doubtful } = await speech.hear({ samples, sampleRate }, language || undefined);
      if (doubtful) logger.warn({ text }, 'heard none of the known phrases; the transcript is a guess');
      else logger.debug({ text }, 'heard');
      return { text, more: { doubtful } };
    },
    async speech({ input: text, voice, body: { language } }) {
      if (text.trim() === '') throw new BadRequestError('input: a text is needed');
      const samples = await speech.speak({ text, language: typeof language === 'string' && language !== '' ? language : 'en-US', voice });
      logger.debug({ text, seconds: samples.length / SPOKEN_RATE }, 'spoke');
      return { samples };
    },
  };
  const provide = async (path: string, request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (path === '/healthz') return sendJson(response, { status: 'ok' });
    if (path === '/v1/models')
      return sendJson(response, { object: 'list', data: [{ id: 'rules', object: 'model', owned_by: 'dev-speech' }] });
    const body = await readBytes(request, LARGEST);
    if (body === undefined) throw new BadRequestError(`the request is longer than ${LARGEST} bytes`);
    const isKnown = await answerAsProvider(path, { headers: request.headers, body }, response, handlers);
    if (!isKnown) refuse(response, 404, 'there is nothing at this address');
  };

  const exampleMcp = createExampleMcp();
  const secret = options.token === undefined ? '' : `/${options.token}`;
  const server = createServer((request, response) => {
    const path = (request.url ?? '').replace(/\?.*/, '');
    const known = path.startsWith(`${secret}/v1/`) ? path.slice(secret.length) : path === '/healthz' ? path : '';
    if (isForMcp(request)) {
      exampleMcp(request, response).catch((error: unknown) => {
        logger.error({ err: error }, 'the MCP server of the examples failed');
        if (response.headersSent) response.destroy();
        else refuse(response, 500, 'dev-speech failed: see its log');
      });
      return;
    }
    if (isForOrders(request)) {
      const order = answerOfOrders(path, Date.now());
      if (order === undefined) refuse(response, 404, 'there is no such order');
      else sendJson(response, order);
      return;
    }
    provide(known, request, response).catch((error: unknown) => {
      const bad = error instanceof BadRequestError || error instanceof RangeError || error instanceof SyntaxError;
      if (!bad) logger.error({ err: error }, 'a request failed');
      if (response.headersSent) response.destroy();
      else refuse(response, bad ? 400 : 500, bad ? error.message : 'dev-speech failed: see its log');
    });
  });
  const realtime = createRealtime({ speech, logger });
  server.on('upgrade', (request, socket, head) => {
    if ((request.url ?? '').replace(/\?.*/, '') === `${secret}/v1/realtime`)
      realtime.handleUpgrade(request, socket, head, (client) => realtime.emit('connection', client));
    else socket.end('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(options.port, options.host, resolve));
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

function decideAnswer(messages: readonly RuleMessage[], body: Readonly<Record<string, unknown>>): ChatScript {
  const schema = wantedSchema(body['response_format']);
  if (schema !== undefined) return { text: [JSON.stringify(fitting(schema, messages))] };
  const offered = (body['tools'] ?? []) as readonly { readonly function?: Partial<RuleTool> & { readonly name: string } }[];
  const tools = offered.flatMap((tool): RuleTool[] =>
    tool.function === undefined ? [] : [{ description: '', parameters: {}, ...tool.function }],
  );
  const { text, calls } = answerByRules(messages, tools);
  return { text, toolCalls: calls };
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

function refuse(response: ServerResponse, status: number, message: string): void {
  sendError(response, status, { message, type: 'dev_speech' });
}
