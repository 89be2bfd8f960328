/**
 * OpenAI's protocol as its servers speak it: chat, transcriptions and speech. What is answered, how fast and how it fails is up to the handlers:
 * those of dev-speech, or those of a test.
 */
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';

import { awakeClock, sleep } from '../../platform/clock.ts';
import { readWav, wavHeader } from '../../platform/wav.ts';

export type ProviderPath = 'chat' | 'transcriptions' | 'speech';

export interface ProviderRequest {
  readonly path: ProviderPath;
  readonly headers: IncomingHttpHeaders;
  /** The JSON, or the fields of the form without the file. */
  readonly body: Readonly<Record<string, unknown>>;
  /** `performance.now()` when the request had come wholly. */
  readonly at: number;
  /** Whether the client went away before the answer was complete. */
  readonly abandoned: boolean;
}

/** What every script may say. */
export interface Behaviour {
  /** Before anything is answered, in milliseconds. */
  readonly delayMs?: number;
  /** The same, until it resolves. */
  readonly holdHead?: Promise<unknown>;
  /** An error, with OpenAI's form of a body. */
  readonly status?: number;
  /** In that body. */
  readonly error?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** In place of the answer, as it is: garbage, for instance. */
  readonly raw?: string | Buffer;
  /** Closes the connection without an answer. */
  readonly drop?: boolean;
}

export interface ToolCallScript {
  readonly name: string;
  /** A string is sent as it is, whether it is JSON or not. */
  readonly arguments?: Readonly<Record<string, unknown>> | string;
  readonly id?: string;
}

export interface ChatScript extends Behaviour {
  /** Tokens; a string is cut into words. */
  readonly text?: string | readonly string[];
  /** After the text, in one answer. */
  readonly toolCalls?: readonly ToolCallScript[];
  readonly tokenDelayMs?: number;
  /** The first token goes out, the rest waits for this. */
  readonly holdRest?: Promise<unknown>;
  /** The name of each tool goes out, its arguments wait for this. */
  readonly holdArguments?: Promise<unknown>;
  /** Breaks the connection after so many tokens. */
  readonly breakAfter?: number;
}

export interface ChatMessage {
  readonly role: string;
  readonly content: string;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly name: string; readonly arguments: string } }[];
}

export interface ChatRequest extends ProviderRequest {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  /** What the user said last; empty before the first time. */
  readonly lastUser: string;
  /** Results that came since then. */
  readonly toolResults: readonly ChatMessage[];
  /** What it is charged for: the request, and what of the answer was made before the client went away. Nothing where it was refused. */
  readonly billed: { readonly inputTokens: number; readonly outputTokens: number };
}

export interface TranscriptionRequest extends ProviderRequest {
  readonly samples: Int16Array;
  /** In Hz. */
  readonly sampleRate: number;
  readonly language: string | undefined;
  readonly model: string;
}

export interface TranscriptionScript extends Behaviour {
  readonly text?: string;
  /** Fields of the answer next to the text. */
  readonly more?: Readonly<Record<string, unknown>>;
}

export interface SpeechRequest extends ProviderRequest {
  readonly input: string;
  readonly voice: string;
  readonly model: string;
}

export interface SpokenScript extends Behaviour {
  /** Of one channel at {@link SPOKEN_RATE}. */
  readonly samples?: Int16Array;
  /** How much faster than it is heard; default as fast as possible. */
  readonly pace?: number;
  /** The first 100 ms of sound go out, the rest waits for this. */
  readonly holdRest?: Promise<unknown>;
  /** Breaks the connection after so much sound, in milliseconds. */
  readonly breakAfterMs?: number;
}

export interface ProviderHandlers {
  readonly chat: (request: ChatRequest) => ChatScript | Promise<ChatScript>;
  readonly transcription: (request: TranscriptionRequest) => TranscriptionScript | Promise<TranscriptionScript>;
  readonly speech: (request: SpeechRequest) => SpokenScript | Promise<SpokenScript>;
  /** Of what a chat is charged for; by default a message is a token, and so is a word. */
  readonly tokens?: { readonly ofRequest: (request: ChatRequest) => number; readonly ofText: (text: string) => number } | undefined;
}

/** Of the sound that goes out, in Hz: that of OpenAI's `pcm`. */
export const SPOKEN_RATE = 24_000;
const CHUNK_MS = 100;

/** The client has not kept to the protocol. */
export class BadRequestError extends Error {
  override readonly name = 'BadRequestError';
}

/** @param path without the query @returns whether it is one of the protocol's. @throws BadRequestError; what a handler throws */
export async function answerAsProvider(
  path: string,
  { headers, body }: { readonly headers: IncomingHttpHeaders; readonly body: Buffer },
  response: ServerResponse,
  handlers: ProviderHandlers,
): Promise<boolean> {
  const about = { headers, at: performance.now(), abandoned: false };
  const track = <T extends ProviderRequest>(request: T): T => {
    response.once('close', () => {
      if (!response.writableFinished) Object.assign(request, { abandoned: true });
    });
    return request;
  };
  switch (path) {
    case '/v1/chat/completions': {
      const request = track(chatRequestOf(jsonOf(body), about));
      await sendChat(await handlers.chat(request), { request, tokens: handlers.tokens }, response);
      return true;
    }
    case '/v1/audio/transcriptions': {
      const script = await handlers.transcription(track(await transcriptionRequestOf(body, about)));
      if (!(await behave(script, response))) sendJson(response, { text: script.text ?? '', ...script.more }, script.headers);
      return true;
    }
    case '/v1/audio/speech': {
      const fields = jsonOf(body);
      const [input, voice, model] = [stringOf(fields['input']), stringOf(fields['voice']), stringOf(fields['model'])];
      const request: SpeechRequest = track({ ...about, path: 'speech', body: fields, input, voice, model });
      await sendSpeech(await handlers.speech(request), request, response);
      return true;
    }
    default:
      return false;
  }
}

export function sendJson(response: ServerResponse, value: unknown, headers: Readonly<Record<string, string>> = {}): void {
  response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
}

export function sendError(
  response: ServerResponse,
  status: number,
  error: Readonly<Record<string, unknown>> = {},
  headers: Readonly<Record<string, string>> = {},
): void {
  const whole = { message: `status ${status}`, type: 'scripted', code: null, param: null, ...error };
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify({ error: whole }));
}

type About = Pick<ProviderRequest, 'headers' | 'at' | 'abandoned'>;

function chatRequestOf(body: Readonly<Record<string, unknown>>, about: About): ChatRequest {
  const sent = Array.isArray(body['messages']) ? (body['messages'] as { readonly role: string; readonly content?: unknown }[]) : [];
  const messages = sent.map((message): ChatMessage => Object.assign(message, { content: joinTextParts(message.content) }));
  const lastUserAt = messages.findLastIndex(({ role }) => role === 'user');
  return {
    ...about,
    path: 'chat',
    body,
    model: stringOf(body['model']),
    messages,
    lastUser: messages[lastUserAt]?.content ?? '',
    toolResults: messages.slice(lastUserAt + 1).filter(({ role }) => role === 'tool'),
    billed: { inputTokens: 0, outputTokens: 0 },
  };
}

async function transcriptionRequestOf(body: Buffer, about: About): Promise<TranscriptionRequest> {
  const type = about.headers['content-type'] ?? '';
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData().catch(() => {
    throw new BadRequestError('the body has to be multipart/form-data');
  });
  const file = form.get('file');
  if (!(file instanceof File)) throw new BadRequestError('file: a WAV file is needed');
  const fields = Object.fromEntries([...form].filter(([, value]) => typeof value === 'string')) as Record<string, string>;
  const sound = readWav(Buffer.from(await file.arrayBuffer()));
  return { ...about, path: 'transcriptions', body: fields, ...sound, language: fields['language'], model: fields['model'] ?? '' };
}

function jsonOf(body: Buffer): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(body.toString('utf8'));
  if (typeof value !== 'object' || value === null) throw new BadRequestError('the body has to be a JSON object');
  return value as Readonly<Record<string, unknown>>;
}

const stringOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Text, or parts of which some have text. */
function joinTextParts(content: unknown): string {
  if (!Array.isArray(content)) return stringOf(content);
  return content.map((part: { readonly text?: unknown }) => stringOf(part.text)).join('');
}

/** @returns whether that was all */
async function behave(script: Behaviour, response: ServerResponse): Promise<boolean> {
  if (script.delayMs !== undefined) await sleep(awakeClock, script.delayMs);
  await script.holdHead;
  if (script.drop === true) {
    response.socket?.destroy();
    return true;
  }
  if (script.raw !== undefined) {
    response.writeHead(script.status ?? 200, { 'content-type': 'application/octet-stream', ...script.headers }).end(script.raw);
    return true;
  }
  if (script.status === undefined || script.status < 400) return false;
  sendError(response, script.status, script.error, script.headers);
  return true;
}

async function sendChat(
  script: ChatScript,
  { request, tokens: counted }: { readonly request: ChatRequest; readonly tokens: ProviderHandlers['tokens'] },
  response: ServerResponse,
): Promise<void> {
  const inputTokens = counted?.ofRequest(request) ?? request.messages.length;
  const made: string[] = [];
  const bill = (...texts: readonly string[]): void => {
    made.push(...texts);
    Object.assign(request, { billed: { inputTokens, outputTokens: counted?.ofText(made.join('')) ?? made.length } });
  };
  // Without a count, what is called is free.
  const billCall = (text: string): void => bill(...(counted === undefined ? [] : [text]));
  if (script.drop !== true && (script.status ?? 200) < 400) bill();
  if (await behave(script, response)) return;
  const tokens = typeof script.text === 'string' ? script.text.split(/(?<= )/).filter((word) => word !== '') : (script.text ?? []);
  const calls = (script.toolCalls ?? []).map((call, index) => ({
    index,
    id: call.id ?? `call_${Math.random().toString(36).slice(2, 12)}`,
    type: 'function',
    function: {
      name: call.name,
      arguments: typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments ?? {}),
    },
  }));
  const finish = calls.length > 0 ? 'tool_calls' : 'stop';
  const base = { id: `chatcmpl-${request.at}`, created: Math.round(Date.now() / 1000), model: request.model };
  const usage = () => ({
    prompt_tokens: inputTokens,
    completion_tokens: request.billed.outputTokens,
    total_tokens: inputTokens + request.billed.outputTokens,
  });
  if (request.body['stream'] !== true) {
    bill(...tokens);
    for (const { function: called } of calls) billCall(called.name + called.arguments);
    const message = { role: 'assistant', content: tokens.join('') || null, ...(calls.length > 0 && { tool_calls: calls }) };
    const choices = [{ index: 0, message, finish_reason: finish }];
    sendJson(response, { ...base, object: 'chat.completion', choices, usage: usage() }, script.headers);
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', ...script.headers });
  response.flushHeaders();
  const sendEvent = (event: object): void =>
    void response.write(`data: ${JSON.stringify({ ...base, object: 'chat.completion.chunk', ...event })}\n\n`);
  const send = (delta: unknown, reason: string | null = null): void => sendEvent({ choices: [{ index: 0, delta, finish_reason: reason }] });
  send({ role: 'assistant', content: '' });
  for (const [index, token] of tokens.entries()) {
    if (index === script.breakAfter) break;
    if (index > 0 && script.tokenDelayMs !== undefined) await sleep(awakeClock, script.tokenDelayMs);
    if (index === 1) await script.holdRest;
    if (response.destroyed) return;
    send({ content: token });
    bill(token);
  }
  if (tokens.length < 2) await script.holdRest;
  if (script.breakAfter !== undefined) {
    // What was written is on its way before.
    response.socket?.end();
    return;
  }
  // As OpenAI does it: first the name, then the arguments in pieces.
  for (const call of calls) {
    send({ tool_calls: [{ ...call, function: { name: call.function.name, arguments: '' } }] });
    billCall(call.function.name);
    await script.holdArguments;
    const middle = Math.ceil(call.function.arguments.length / 2);
    for (const piece of [call.function.arguments.slice(0, middle), call.function.arguments.slice(middle)])
      send({ tool_calls: [{ index: call.index, function: { arguments: piece } }] });
    billCall(call.function.arguments);
  }
  send({}, finish);
  sendEvent({ choices: [], usage: usage() });
  response.end('data: [DONE]\n\n');
}

async function sendSpeech(script: SpokenScript, request: SpeechRequest, response: ServerResponse): Promise<void> {
  if (await behave(script, response)) return;
  const { buffer, byteOffset, byteLength } = script.samples ?? new Int16Array();
  const sound = Buffer.from(buffer, byteOffset, byteLength);
  const wav = request.body['response_format'] === 'wav';
  response.writeHead(200, { 'content-type': wav ? 'audio/wav' : 'audio/pcm', ...script.headers });
  response.flushHeaders();
  if (wav) response.write(wavHeader({ sampleRate: SPOKEN_RATE, dataBytes: sound.length }));
  const bytesPerMs = (SPOKEN_RATE * 2) / 1000;
  for (let at = 0; at < sound.length; at += CHUNK_MS * bytesPerMs) {
    if (script.breakAfterMs !== undefined && at >= script.breakAfterMs * bytesPerMs) {
      response.socket?.end();
      return;
    }
    if (at === CHUNK_MS * bytesPerMs) await script.holdRest;
    if (response.destroyed) return;
    response.write(sound.subarray(at, at + CHUNK_MS * bytesPerMs));
    if (script.pace !== undefined) await sleep(awakeClock, CHUNK_MS / script.pace);
  }
  await script.holdRest;
  response.end();
}
