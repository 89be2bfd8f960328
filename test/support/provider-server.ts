/**
 * A server that speaks OpenAI's protocol on a free port of this machine, scripted by the test: what it hears, what it answers, how it
 * speaks, how long it takes for that and how it fails. Everything that it was asked is kept.
 *
 * ```ts
 * const provider = await startProviderServer();
 * // Agents: provider 'openai_compatible', baseURL provider.url; or PARLEY_PROVIDERS=[{"name": "openai", "baseURL": provider.url}]
 *
 * provider.hear('what does the bicycle cost', 'thank you');   // the next two turns of the user, whatever they sound like
 * provider.chat(({ lastUser, toolResults }) => {
 *   if (toolResults.length > 0) return `It costs ${toolResults[0].content}.`;
 *   if (lastUser.includes('cost')) return { toolCalls: [{ name: 'look_up_price', arguments: { item: 'bicycle' } }] };
 *   return { text: ['You', ' are', ' welcome.'], tokenDelayMs: 50 };
 * });
 * provider.speech(({ input }) => (input.startsWith('Bad') ? { status: 500 } : { pace: 4 }));
 *
 * expect(provider.requests('chat').at(-1)?.headers.authorization).toBe('Bearer key');
 * expect(heardFrequency(samples, 48_000)).toBe(frequencyOf('It costs 900.'));   // of tones.ts: a text is heard as its tone
 * await provider.close();
 * ```
 *
 * Without a script: nothing is heard, the answer to a chat is "I heard: …", and speech comes as fast as it can, 40 ms a character.
 */
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

import { readWav, wavHeader } from '../../platform/wav.ts';
import { Servers, whole } from './http-servers.ts';
import { marksIn } from './synthetic-speech.ts';
import { createStreamedEars, type StreamedEars } from './streamed-ears.ts';
import { bytesOf, frequencyOf, heardFrequency, loudness, markParts, tone } from './tones.ts';

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
interface Behaviour {
  /** Before anything is answered, in milliseconds. */
  readonly delayMs?: number;
  /** The same, until it resolves. */
  readonly holdHead?: Promise<unknown>;
  /** An error, with OpenAI's form of a body. */
  readonly status?: number;
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

interface ChatMessage {
  readonly role: string;
  readonly content: string;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly name: string; readonly arguments: string } }[];
}

export interface ReceivedChat extends ProviderRequest {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  /** All system and developer messages. */
  readonly system: string;
  /** What the user said last; empty before the first time. */
  readonly lastUser: string;
  /** Results that came since then. */
  readonly toolResults: readonly ChatMessage[];
  /** Names of the functions that were offered. */
  readonly toolNames: readonly string[];
  /** Of OpenAI's models; 0 without {@link ProviderServer.limitContext}. */
  readonly tokens: number;
  /** What it is charged for: the request, and what of the answer was made before the client went away. Nothing where it was refused. */
  readonly billed: { readonly inputTokens: number; readonly outputTokens: number };
}

export interface HeardRequest extends ProviderRequest {
  readonly seconds: number;
  /** In Hz. */
  readonly sampleRate: number;
  /** 0 … 1. */
  readonly loudness: number;
  /** Of the strongest tone; undefined for silence. */
  readonly frequency: number | undefined;
  /** Of the caller's parts that are in it; see synthetic-speech.ts. */
  readonly marks: readonly number[];
  readonly language: string | undefined;
  readonly model: string;
}

export interface HeardScript extends Behaviour {
  readonly text?: string;
}

export interface SpeechRequest extends ProviderRequest {
  readonly input: string;
  readonly voice: string;
  readonly model: string;
}

export interface SpeechScript extends Behaviour {
  /** How long the tone is, in milliseconds for each character; default 40. */
  readonly msPerCharacter?: number;
  /** See `markParts` of tones.ts. */
  readonly marksParts?: boolean;
  /** How much faster than it is heard; default as fast as possible. */
  readonly pace?: number;
  /** The first 100 ms of sound go out, the rest waits for this. */
  readonly holdRest?: Promise<unknown>;
  /** Breaks the connection after so much sound, in milliseconds. */
  readonly breakAfterMs?: number;
}

export type ChatHandler = (request: ReceivedChat) => string | ChatScript | Promise<string | ChatScript>;
export type HeardHandler = (request: HeardRequest) => string | HeardScript | Promise<string | HeardScript>;
export type SpeechHandler = (request: SpeechRequest) => SpeechScript | Promise<SpeechScript>;

export interface ProviderServer {
  /** `http://127.0.0.1:<port>/v1`. */
  readonly url: string;
  readonly port: number;
  /** Holds from now on. */
  chat(handler: ChatHandler): void;
  /** The context window of its models: requests are counted, and refused as OpenAI does it where they are longer. */
  limitContext(tokens: number): Promise<void>;
  /** What the next recognitions give; then the handler is asked. */
  hear(...texts: readonly (string | HeardScript)[]): void;
  heard(handler: HeardHandler): void;
  speech(handler: SpeechHandler): void;
  /** For agents whose speech to text is Deepgram's at this server's address. */
  readonly streamed: Omit<StreamedEars, 'onUpgrade' | 'reset'>;
  /** In the order in which they came. */
  requests(path: 'chat'): readonly ReceivedChat[];
  requests(path: 'transcriptions'): readonly HeardRequest[];
  requests(path: 'speech'): readonly SpeechRequest[];
  requests(): readonly ProviderRequest[];
  /** Requests that are being answered now. */
  readonly inFlight: number;
  /** Forgets what came and all scripts. */
  reset(): void;
  close(): Promise<void>;
}

const sampleRate = 24_000;
const chunkMs = 100;

export async function startProviderServer(): Promise<ProviderServer> {
  const requests: (ProviderRequest & { abandoned: boolean })[] = [];
  let onChat: ChatHandler = echo;
  let onHeard: HeardHandler = () => '';
  let onSpeech: SpeechHandler = () => ({});
  let contextTokens: number | undefined;
  let countTokens: (text: string) => number = () => 0;
  let toHear: (string | HeardScript)[] = [];
  let inFlight = 0;
  const servers = new Servers();
  const streamed = createStreamedEars();
  const server = await servers.http(
    whole(({ url = '', headers }, response, body) => {
      inFlight += 1;
      response.once('close', () => (inFlight -= 1));
      answer(url, headers, body, response).catch((error: unknown) => {
        if (!response.headersSent) response.writeHead(500, { 'content-type': 'text/plain' });
        // What the test's own script did wrong has to be found.
        response.end(`the script failed: ${String(error)}`);
      });
    }),
    { onUpgrade: streamed.onUpgrade },
  );

  const keep = <T extends ProviderRequest>(entry: T, response: ServerResponse): T => {
    requests.push(entry);
    response.once('close', () => {
      if (!response.writableFinished) (entry as { abandoned: boolean }).abandoned = true;
    });
    return entry;
  };

  const answer = async (url: string, headers: IncomingHttpHeaders, body: Buffer, response: ServerResponse): Promise<void> => {
    const at = performance.now();
    switch (url.replace(/\?.*/, '')) {
      case '/v1/chat/completions': {
        const sent = JSON.parse(body.toString()) as ChatBody;
        const tokens = contextTokens === undefined ? 0 : tokensOf(sent, countTokens);
        const asked = keep(chatRequestOf(headers, sent, { at, tokens }), response);
        if (contextTokens !== undefined && tokens > contextTokens) return sendTooLong(response, { contextTokens, tokens });
        const script = await onChat(asked);
        await sendChat(
          typeof script === 'string' ? { text: script } : script,
          { asked, countTokens: contextTokens === undefined ? undefined : countTokens },
          response,
        );
        return;
      }
      case '/v1/audio/transcriptions': {
        const asked = keep(await heardRequestOf(headers, body, at), response);
        const script = toHear.shift() ?? (await onHeard(asked));
        const heard = typeof script === 'string' ? { text: script } : script;
        if (await behave(heard, response)) return;
        sendJson(response, { text: heard.text ?? '' }, heard.headers);
        return;
      }
      case '/v1/audio/speech': {
        const fields = JSON.parse(body.toString()) as Record<string, unknown>;
        const { input = '', voice = '', model = '' } = fields;
        const entry = { path: 'speech', headers, body: fields, at, abandoned: false } as const;
        const asked = keep({ ...entry, input: String(input), voice: String(voice), model: String(model) }, response);
        await sendSpeech(await onSpeech(asked), asked, response);
        return;
      }
      case '/v1/models':
        sendJson(response, { object: 'list', data: [] });
        return;
      default:
        sendError(response, 404);
    }
  };

  return {
    url: `http://127.0.0.1:${server.port}/v1`,
    port: server.port,
    chat: (handler) => void (onChat = handler),
    async limitContext(tokens) {
      // It takes a second to load: not of an answer's time.
      ({ countTokens } = await import('../../knowledge/chunking/tokens.ts'));
      contextTokens = tokens;
    },
    hear: (...texts) => void toHear.push(...texts),
    heard: (handler) => void (onHeard = handler),
    speech: (handler) => void (onSpeech = handler),
    streamed,
    requests: (path?: ProviderPath) => requests.filter((request) => path === undefined || request.path === path) as never,
    get inFlight() {
      return inFlight;
    },
    reset() {
      requests.length = 0;
      streamed.reset();
      toHear = [];
      contextTokens = undefined;
      onChat = echo;
      onHeard = () => '';
      onSpeech = () => ({});
    },
    close: () => servers.stop(),
  };
}

const echo: ChatHandler = ({ lastUser }) => `I heard: ${lastUser}`;

interface ChatBody extends Readonly<Record<string, unknown>> {
  readonly messages?: readonly { readonly role: string; readonly content?: unknown }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
  readonly model?: string;
}

/** About as OpenAI counts them: what it makes of tools and roles is no public knowledge. */
function tokensOf({ messages = [], tools = [] }: ChatBody, count: (text: string) => number): number {
  const offered = tools.length === 0 ? 0 : count(JSON.stringify(tools));
  return messages.reduce((sum, { role: _role, ...message }) => sum + 4 + count(Object.values(message).map(textIn).join(' ')), offered);
}

const textIn = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

function chatRequestOf(
  headers: IncomingHttpHeaders,
  body: ChatBody,
  { at, tokens }: { readonly at: number; readonly tokens: number },
): ReceivedChat & Billed & { abandoned: boolean } {
  const messages = (body.messages ?? []).map((message): ChatMessage => Object.assign(message, { content: textOf(message.content) }));
  const lastUserAt = messages.findLastIndex(({ role }) => role === 'user');
  const since = messages.slice(lastUserAt + 1);
  return {
    path: 'chat',
    headers,
    body,
    at,
    abandoned: false,
    model: body.model ?? '',
    messages,
    system: messages
      .filter(({ role }) => role === 'system' || role === 'developer')
      .map(({ content }) => content)
      .join('\n'),
    lastUser: messages[lastUserAt]?.content ?? '',
    toolResults: since.filter(({ role }) => role === 'tool'),
    toolNames: (body.tools ?? []).map((tool) => tool.function.name),
    tokens,
    billed: { inputTokens: 0, outputTokens: 0 },
  };
}

interface Billed {
  billed: ReceivedChat['billed'];
}

/** Text, or parts of which some have text. */
function textOf(content: unknown): string {
  if (!Array.isArray(content)) return typeof content === 'string' ? content : '';
  return content.map((part: { readonly text?: string }) => part.text ?? '').join('');
}

async function heardRequestOf(headers: IncomingHttpHeaders, body: Buffer, at: number): Promise<HeardRequest & { abandoned: boolean }> {
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': headers['content-type'] ?? '' } }).formData();
  const file = form.get('file');
  if (!(file instanceof File)) throw new Error('a transcription without a file');
  const { samples, sampleRate: rate } = readWav(Buffer.from(await file.arrayBuffer()));
  const fields = Object.fromEntries([...form].filter(([, value]) => typeof value === 'string')) as Record<string, string>;
  return {
    path: 'transcriptions',
    headers,
    body: fields,
    at,
    abandoned: false,
    seconds: samples.length / rate,
    sampleRate: rate,
    loudness: loudness(samples),
    frequency: heardFrequency(samples, rate),
    marks: marksIn(samples, rate),
    language: fields['language'],
    model: fields['model'] ?? '',
  };
}

/** @returns whether that was all */
async function behave(script: Behaviour, response: ServerResponse): Promise<boolean> {
  if (script.delayMs !== undefined) await delay(script.delayMs);
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
  sendError(response, script.status, script.headers);
  return true;
}

/** As providers do it, with a piece of what was asked in the message: nothing of it may be found in a log. */
function sendError(response: ServerResponse, status: number, headers: Readonly<Record<string, string>> = {}): void {
  const error = { message: `leaked-by-the-provider: status ${status}`, type: 'scripted', code: null, param: null };
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify({ error }));
}

function sendTooLong(
  response: ServerResponse,
  { contextTokens, tokens }: { readonly contextTokens: number; readonly tokens: number },
): void {
  const message = `This model's maximum context length is ${contextTokens} tokens. However, your messages resulted in ${tokens} tokens.`;
  const error = { message, type: 'invalid_request_error', param: 'messages', code: 'context_length_exceeded' };
  response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error }));
}

function sendJson(response: ServerResponse, value: unknown, headers: Readonly<Record<string, string>> = {}): void {
  response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
}

async function sendChat(
  script: ChatScript,
  { asked: request, countTokens }: { readonly asked: ReceivedChat & Billed; readonly countTokens: ((text: string) => number) | undefined },
  response: ServerResponse,
): Promise<void> {
  const inputTokens = request.tokens || request.messages.length;
  const failsAtOnce = script.drop === true || (script.status ?? 200) >= 400;
  if (!failsAtOnce) request.billed = { inputTokens, outputTokens: 0 };
  if (await behave(script, response)) return;
  const tokens = typeof script.text === 'string' ? script.text.split(/(?<= )/) : (script.text ?? []);
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
  const made: string[] = [];
  const outputTokens = (): number => countTokens?.(made.join('')) ?? made.length;
  const bill = (text: string): void => {
    made.push(text);
    request.billed = { inputTokens, outputTokens: outputTokens() };
  };
  const usage = () => ({
    prompt_tokens: inputTokens,
    completion_tokens: request.billed.outputTokens,
    total_tokens: inputTokens + request.billed.outputTokens,
  });
  if (request.body['stream'] !== true) {
    tokens.forEach(bill);
    if (countTokens !== undefined) for (const { function: called } of calls) bill(called.name + called.arguments);
    const message = { role: 'assistant', content: tokens.join('') || null, ...(calls.length > 0 && { tool_calls: calls }) };
    sendJson(
      response,
      { ...base, object: 'chat.completion', choices: [{ index: 0, message, finish_reason: finish }], usage: usage() },
      script.headers,
    );
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', ...script.headers });
  response.flushHeaders();
  const send = (delta: unknown, reason: string | null = null): void => {
    const event = { ...base, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: reason }] };
    response.write(`data: ${JSON.stringify(event)}\n\n`);
  };
  send({ role: 'assistant', content: '' });
  for (const [index, token] of tokens.entries()) {
    if (index === script.breakAfter) break;
    if (index > 0 && script.tokenDelayMs !== undefined) await delay(script.tokenDelayMs);
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
    if (countTokens !== undefined) bill(call.function.name);
    await script.holdArguments;
    const middle = Math.ceil(call.function.arguments.length / 2);
    for (const piece of [call.function.arguments.slice(0, middle), call.function.arguments.slice(middle)])
      send({ tool_calls: [{ index: call.index, function: { arguments: piece } }] });
    if (countTokens !== undefined) bill(call.function.arguments);
  }
  send({}, finish);
  response.write(`data: ${JSON.stringify({ ...base, object: 'chat.completion.chunk', choices: [], usage: usage() })}\n\n`);
  response.end('data: [DONE]\n\n');
}

async function sendSpeech(script: SpeechScript, request: SpeechRequest, response: ServerResponse): Promise<void> {
  if (await behave(script, response)) return;
  const seconds = (Math.max(1, request.input.length) * (script.msPerCharacter ?? 40)) / 1000;
  const sound = tone({ frequency: frequencyOf(request.input), seconds, sampleRate });
  const samples = bytesOf(script.marksParts === true ? markParts(sound, sampleRate) : sound);
  const wav = request.body['response_format'] === 'wav';
  response.writeHead(200, { 'content-type': wav ? 'audio/wav' : 'audio/pcm', ...script.headers });
  response.flushHeaders();
  if (wav) response.write(wavHeader({ sampleRate, dataBytes: samples.length }));
  const chunkBytes = (sampleRate * 2 * chunkMs) / 1000;
  for (let at = 0; at < samples.length; at += chunkBytes) {
    if (script.breakAfterMs !== undefined && at >= (sampleRate * 2 * script.breakAfterMs) / 1000) {
      response.socket?.end();
      return;
    }
    if (at === chunkBytes) await script.holdRest;
    if (response.destroyed) return;
    response.write(samples.subarray(at, at + chunkBytes));
    if (script.pace !== undefined) await delay(chunkMs / script.pace);
  }
  await script.holdRest;
  response.end();
}
