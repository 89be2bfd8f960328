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
import { Servers, whole } from './http-servers.ts';
import {
  answerAsProvider,
  sendError,
  sendJson,
  SPOKEN_RATE,
  type ChatMessage,
  type ChatRequest,
  type ChatScript,
  type ProviderPath,
  type ProviderRequest,
  type SpeechRequest,
  type SpokenScript,
  type TranscriptionRequest,
  type TranscriptionScript,
} from '../../local-stack/speech/provider-protocol.ts';
import { marksIn } from './synthetic-speech.ts';
import { createStreamedEars, type StreamedEars } from './streamed-ears.ts';
import { frequencyOf, heardFrequency, loudness, markParts, tone } from './tones.ts';

export type { ChatScript, SpeechRequest, ToolCallScript, TranscriptionScript } from '../../local-stack/speech/provider-protocol.ts';

export interface ReceivedChat extends ChatRequest {
  /** All system and developer messages. */
  readonly system: string;
  /** Names of the functions that were offered. */
  readonly toolNames: readonly string[];
  /** Of OpenAI's models; 0 without {@link ProviderServer.limitContext}. */
  readonly tokens: number;
}

export interface HeardRequest extends TranscriptionRequest {
  readonly seconds: number;
  /** 0 … 1. */
  readonly loudness: number;
  /** Of the strongest tone; undefined for silence. */
  readonly frequency: number | undefined;
  /** Of the caller's parts that are in it; see synthetic-speech.ts. */
  readonly marks: readonly number[];
}

export interface SpeechScript extends Omit<SpokenScript, 'samples'> {
  /** How long the tone is, in milliseconds for each character; default 40. */
  readonly msPerCharacter?: number;
  /** See `markParts` of tones.ts. */
  readonly marksParts?: boolean;
}

export type ChatHandler = (request: ReceivedChat) => string | ChatScript | Promise<string | ChatScript>;
export type HeardHandler = (request: HeardRequest) => string | TranscriptionScript | Promise<string | TranscriptionScript>;
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
  hear(...texts: readonly (string | TranscriptionScript)[]): void;
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

export async function startProviderServer(): Promise<ProviderServer> {
  const requests: ProviderRequest[] = [];
  let onChat: ChatHandler = echo;
  let onHeard: HeardHandler = () => '';
  let onSpeech: SpeechHandler = () => ({});
  let contextTokens: number | undefined;
  let countTokens: (text: string) => number = () => 0;
  let toHear: (string | TranscriptionScript)[] = [];
  let inFlight = 0;
  const servers = new Servers();
  const streamed = createStreamedEars();
  const keep = <T extends ProviderRequest>(entry: T): T => {
    requests.push(entry);
    return entry;
  };
  const chat = async (request: ChatRequest): Promise<ChatScript> => {
    const asked = keep(receivedChatOf(request, contextTokens === undefined ? undefined : countTokens));
    if (contextTokens !== undefined && asked.tokens > contextTokens) return { status: 400, error: tooLong(contextTokens, asked.tokens) };
    return leaking(scriptOf(await onChat(asked)));
  };
  const transcription = async (request: TranscriptionRequest): Promise<TranscriptionScript> => {
    const asked = keep(heardRequestOf(request));
    return leaking(scriptOf(toHear.shift() ?? (await onHeard(asked))));
  };
  const speech = async (request: SpeechRequest): Promise<SpokenScript> => {
    const script = await onSpeech(keep(request));
    const seconds = (Math.max(1, request.input.length) * (script.msPerCharacter ?? 40)) / 1000;
    const sound = tone({ frequency: frequencyOf(request.input), seconds, sampleRate: SPOKEN_RATE });
    return leaking({ ...script, samples: script.marksParts === true ? markParts(sound, SPOKEN_RATE) : sound });
  };
  const server = await servers.http(
    whole(async ({ url = '', headers }, response, body) => {
      inFlight += 1;
      response.once('close', () => (inFlight -= 1));
      const path = url.replace(/\?.*/, '');
      const tokens =
        contextTokens === undefined ? undefined : { ofRequest: (asked: ChatRequest) => tokensOf(asked, countTokens), ofText: countTokens };
      try {
        if (await answerAsProvider(path, { headers, body }, response, { chat, transcription, speech, tokens })) return;
        if (path === '/v1/models') sendJson(response, { object: 'list', data: [] });
        else sendError(response, 404);
      } catch (error) {
        if (!response.headersSent) response.writeHead(500, { 'content-type': 'text/plain' });
        // What the test's own script did wrong has to be found.
        response.end(`the script failed: ${String(error)}`);
      }
    }),
    { onUpgrade: streamed.onUpgrade },
  );

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

const scriptOf = <T extends object>(script: string | T): T => (typeof script === 'string' ? ({ text: script } as unknown as T) : script);

/** As providers do it, with a piece of what was asked in the message of an error: nothing of it may be found in a log. */
const leaking = <T extends { readonly status?: number }>(script: T): T => ({
  error: { message: `leaked-by-the-provider: status ${script.status}` },
  ...script,
});

const tooLong = (contextTokens: number, tokens: number) => ({
  message: `This model's maximum context length is ${contextTokens} tokens. However, your messages resulted in ${tokens} tokens.`,
  type: 'invalid_request_error',
  param: 'messages',
  code: 'context_length_exceeded',
});

const offeredTo = ({ body }: ChatRequest) => (body['tools'] ?? []) as readonly { readonly function: { readonly name: string } }[];

/** About as OpenAI counts them: what it makes of tools and roles is no public knowledge. */
function tokensOf(request: ChatRequest, count: (text: string) => number): number {
  const tools = offeredTo(request);
  const textIn = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
  return request.messages.reduce(
    (sum, { role: _role, ...message }) => sum + 4 + count(Object.values(message).map(textIn).join(' ')),
    tools.length === 0 ? 0 : count(JSON.stringify(tools)),
  );
}

function receivedChatOf(request: ChatRequest, count: ((text: string) => number) | undefined): ReceivedChat {
  const isSystem = ({ role }: ChatMessage): boolean => role === 'system' || role === 'developer';
  // The same object: what becomes of the request is seen in it.
  return Object.assign(request, {
    system: request.messages
      .filter(isSystem)
      .map(({ content }) => content)
      .join('\n'),
    toolNames: offeredTo(request).map((tool) => tool.function.name),
    tokens: count === undefined ? 0 : tokensOf(request, count),
  });
}

function heardRequestOf(request: TranscriptionRequest): HeardRequest {
  const { samples, sampleRate } = request;
  return Object.assign(request, {
    seconds: samples.length / sampleRate,
    loudness: loudness(samples),
    frequency: heardFrequency(samples, sampleRate),
    marks: marksIn(samples, sampleRate),
  });
}
