/** A language model that speaks OpenAI's protocol, read by LiveKit's plugin. */
import { type APIConnectOptions, APITimeoutError, DEFAULT_API_CONNECT_OPTIONS, isAPIError, llm as llms } from '@livekit/agents';
import * as openai from '@livekit/agents-plugin-openai';
import { OpenAI } from 'openai';

import {
  chatAttributes,
  CompletionReader,
  errorTypeOf,
  failureOf,
  type ChatRequest,
  type ProviderEndpoint,
  type ProviderError,
  type ProviderFetch,
} from '../../calls/provider-access/index.ts';
import type { Clock } from '../../../platform/clock.ts';
import { CHAT } from '../../../platform/telemetry/gen-ai/conventions.ts';
import { unobserved, type ModelRequestObserver, type ObservedRequest } from '../../../platform/telemetry/gen-ai/model-requests.ts';
import { capturesContent } from '../../../platform/telemetry/tracing.ts';
import { ProviderApiError } from '../provider-errors.ts';
import { ContextWindow } from './context-window.ts';

export interface LanguageModelOptions {
  readonly endpoint: ProviderEndpoint & { readonly baseURL: string; readonly model: string };
  readonly temperature: number;
  readonly maxTokens?: number | undefined;
  readonly contextTokens?: number | undefined;
  readonly fetch: ProviderFetch;
  readonly clock: Clock;
  readonly observer?: ModelRequestObserver | undefined;
}

type ChatOptions = Parameters<llms.LLM['chat']>[0];

export class LanguageModel extends llms.LLM {
  readonly #options: LanguageModelOptions;
  readonly #client: OpenAI;
  readonly window: ContextWindow;

  constructor(options: LanguageModelOptions) {
    super();
    const { endpoint, maxTokens, contextTokens } = options;
    this.#options = options;
    this.window = new ContextWindow({ model: endpoint.model, contextTokens, maxTokens });
    this.#client = new OpenAI({
      baseURL: endpoint.baseURL,
      // The client requires one; self-hosted servers often don't.
      apiKey: endpoint.apiKey ?? 'none',
      maxRetries: 0,
      // It would print answers that it can't parse.
      logLevel: 'off',
      // Not from the environment: that is the operator's, not the agent's provider's.
      organization: null,
      project: null,
      ...(endpoint.provider === 'azure_openai' && endpoint.apiKey !== undefined && { defaultHeaders: { 'api-key': endpoint.apiKey } }),
    });
  }

  override label(): string {
    return 'parley.LanguageModel';
  }

  override get model(): string {
    return this.#options.endpoint.model;
  }

  override get provider(): string {
    return this.#options.endpoint.provider;
  }

  override chat({
    chatCtx,
    toolCtx,
    connOptions = DEFAULT_API_CONNECT_OPTIONS,
    toolChoice,
    parallelToolCalls,
    extraKwargs,
  }: ChatOptions): CompletionStream {
    const { endpoint, temperature, maxTokens, clock, observer = unobserved } = this.#options;
    const tools = llms.toToolContext(toolCtx);
    const effort = endpoint.provider === 'openai' ? openai.defaultReasoningEffort(endpoint.model) : undefined;
    return new CompletionStream(this, {
      endpoint,
      client: this.#client,
      fetch: this.#options.fetch,
      clock,
      observer,
      chatCtx,
      toolCtx: tools,
      connOptions,
      modelOptions: {
        // Always sent, 0 too: providers' defaults differ.
        temperature,
        ...(maxTokens !== undefined && { [limitName(endpoint)]: maxTokens }),
        ...(effort !== undefined && { reasoning_effort: effort }),
        ...(parallelToolCalls !== undefined && hasTools(tools) && { parallel_tool_calls: parallelToolCalls }),
        ...(toolChoice !== undefined && { tool_choice: toolChoice }),
        ...extraKwargs,
      },
    });
  }

  /** Options of an answer that may be longer than those of the agent. */
  allowing(tokens: number): Readonly<Record<string, unknown>> {
    const { endpoint, maxTokens } = this.#options;
    return maxTokens === undefined || maxTokens >= tokens ? {} : { [limitName(endpoint)]: Math.ceil(tokens) };
  }

  /** Opens the connection with the cheapest request there is. */
  protected override async _prewarmImpl(signal: AbortSignal): Promise<void> {
    const { endpoint, fetch } = this.#options;
    const headers = endpoint.apiKey === undefined ? {} : { authorization: `Bearer ${endpoint.apiKey}` };
    const response = await fetch(`${endpoint.baseURL}/models`, { headers, signal });
    await response.body?.cancel();
  }
}

const hasTools = (tools: llms.ToolContext | undefined): boolean => Object.keys(tools?.functionTools ?? {}).length > 0;

/** OpenAI's newer models take only the new name, most other servers only the old one. */
const limitName = ({ provider }: ProviderEndpoint): string =>
  provider === 'openai' || provider === 'azure_openai' ? 'max_completion_tokens' : 'max_tokens';

interface CompletionOptions {
  readonly endpoint: LanguageModelOptions['endpoint'];
  readonly client: OpenAI;
  readonly fetch: ProviderFetch;
  readonly clock: Clock;
  readonly observer: ModelRequestObserver;
  readonly chatCtx: llms.ChatContext;
  readonly toolCtx: llms.ToolContext | undefined;
  readonly connOptions: APIConnectOptions;
  readonly modelOptions: Record<string, unknown>;
}

/** With these the client and LiveKit describe themselves and the call to every provider. */
const TELEMETRY_HEADERS = /^x-(livekit|stainless)-/i;

/** What was received of an answer. */
interface Seen {
  failure?: ProviderError;
  /** When, by the monotonic clock. */
  at: number;
  toolCall: boolean;
  /** The request of this attempt; absent before it is sent. */
  request?: ObservedRequest;
  /** Of its answer; absent before the provider has accepted the request. */
  reader?: CompletionReader;
}

/** One completion. Failures come from the HTTP layer below: the client above hides them. */
export class CompletionStream extends openai.LLMStream {
  /** Of the last attempt; set before the stream ends. */
  failure: ProviderApiError | undefined;
  readonly #endpoint: LanguageModelOptions['endpoint'];
  readonly #clock: Clock;
  readonly #seen: Seen;

  constructor(model: LanguageModel, { endpoint, client, fetch, clock, observer, toolCtx, ...options }: CompletionOptions) {
    const seen: Seen = { at: 0, toolCall: false };
    const onFailure = (failure: ProviderError): void => void (seen.failure ??= failure);
    const onData = (text: string): void => {
      // Servers keep the connection open with comments.
      if (!text.startsWith(':')) {
        seen.at = clock.monotonic();
        seen.request?.firstChunk();
      }
      seen.reader?.push(text);
      seen.toolCall ||= TOOL_CALL.test(text);
    };
    const own = client.withOptions({
      fetch: async (url, init) => {
        const headers = Object.fromEntries([...new Headers(init?.headers)].filter(([name]) => !TELEMETRY_HEADERS.test(name)));
        if (endpoint.apiKey === undefined) delete headers['authorization'];
        const { method = 'POST', body, signal = null } = init ?? {};
        if (typeof url !== 'string' || typeof body !== 'string') throw new TypeError('not a request of a chat');
        const sent = endpoint.provider === 'google' ? withoutEmptyParameters(body) : body;
        const onSend = (): void => {
          seen.request = observer.begin({
            operation: CHAT,
            provider: endpoint.provider,
            model: endpoint.model,
            address: endpoint.baseURL,
            streams: true,
            body: sent,
            attributes: chatAttributes({
              ...options.modelOptions,
              // Parsed only where it is wanted: it has the whole conversation.
              ...(capturesContent() && { messages: (JSON.parse(sent) as ChatRequest).messages }),
            }),
          });
        };
        const response = await fetch(url, { method, headers, body: sent, signal, onSend, onFailure });
        seen.reader = new CompletionReader({ keepsWords: capturesContent() });
        return watchCompletion(response, endpoint, { onData, onFailure });
      },
    });
    super(model as unknown as ConstructorParameters<typeof openai.LLMStream>[0], {
      ...options,
      ...(toolCtx !== undefined && { toolCtx }),
      model: endpoint.model,
      providerFmt: 'openai',
      client: own,
      strictToolSchema: false,
    });
    this.#endpoint = endpoint;
    this.#clock = clock;
    this.#seen = seen;
    // Who is interrupted reads no further, and need not say so.
    this.abortController.signal.addEventListener('abort', () => this.#observed('cancelled'), { once: true });
  }

  /** For how long no part of the answer came, in milliseconds; also of a tool call, which is read only when it is complete. */
  get silentForMs(): number {
    return this.#clock.monotonic() - this.#seen.at;
  }

  /** Whether a tool call has begun. */
  get callsTool(): boolean {
    return this.#seen.toolCall;
  }

  protected override async run(): Promise<void> {
    delete this.#seen.failure;
    this.failure = undefined;
    try {
      await super.run();
      this.#observed(this.abortController.signal.aborted ? 'cancelled' : 'completed');
    } catch (error) {
      // The plugin knows whether part of the answer has been used already.
      const retryable = isAPIError(error) && error.retryable;
      this.failure = new ProviderApiError(this.#seen.failure ?? this.#unseen(error), { retryable });
      this.#observed({ failure: errorTypeOf(this.failure.failure) });
      throw this.failure;
    }
  }

  #observed(outcome: Parameters<ObservedRequest['end']>[0]): void {
    const { request, reader } = this.#seen;
    delete this.#seen.request;
    delete this.#seen.reader;
    request?.end(outcome, reader?.answer);
  }

  /** An answer came, and could not be read. */
  #unseen(error: unknown): ProviderError {
    if (error instanceof APITimeoutError) return failureOf(this.#endpoint, 'unreachable', 'did not answer in time', { slow: true });
    // The plugin's way to say that the provider put an error in place of an event.
    if (isAPIError(error) && 'statusCode' in error)
      return failureOf(this.#endpoint, 'runtime', 'reported an error in the middle of an answer');
    return failureOf(this.#endpoint, 'payload', "sent an answer that can't be read");
  }
}

interface OfferedTool {
  readonly function?: { readonly parameters?: { readonly properties?: object; readonly additionalProperties?: unknown } };
}

/** Gemini refuses an object without properties: what takes no parameters is offered without any, as LiveKit's plugin for Gemini does. */
function withoutEmptyParameters(body: string): string {
  const request = JSON.parse(body) as { tools?: readonly OfferedTool[] };
  for (const { function: offered } of request.tools ?? []) {
    const { properties = {}, additionalProperties } = offered?.parameters ?? {};
    if (Object.keys(properties).length === 0 && !additionalProperties) delete (offered as { parameters?: unknown } | undefined)?.parameters;
  }
  return JSON.stringify(request);
}

const EVENT = /(^|\n)data:/;
const TOOL_CALL = /"tool_calls" ?: ?\[ ?\{/;
const LAST_EVENT = /(^|\n)data: ?\[DONE\]|"finish_reason" ?: ?"/;
/** Longer than anything that is looked for. */
const TAIL_LENGTH = 32;

/**
 * Checks that a streamed completion is one, and complete. Client libraries take an HTML page for an answer without words, and a stream that was cut
 * off between two events for a complete one: the caller would hear nothing, or half a sentence, and no log would say why.
 */
function watchCompletion(
  response: Response,
  endpoint: ProviderEndpoint,
  { onData, onFailure }: { readonly onData: (text: string) => void; readonly onFailure: (failure: ProviderError) => void },
): Response {
  const decoder = new TextDecoder();
  let tail = '\n';
  let events = false;
  let complete = false;
  const watch = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      const piece = decoder.decode(chunk, { stream: true });
      onData(piece);
      const text = tail + piece;
      events ||= EVENT.test(text);
      complete ||= LAST_EVENT.test(text);
      tail = text.slice(-TAIL_LENGTH);
      controller.enqueue(chunk);
    },
    flush(controller) {
      if (complete) return;
      const failure = events
        ? failureOf(endpoint, 'connection_lost', 'ended in the middle of an answer')
        : failureOf(endpoint, 'payload', 'sent something that is no answer: check its address');
      onFailure(failure);
      controller.error(failure);
    },
  });
  return new Response(response.body?.pipeThrough(watch) ?? null, { status: response.status, headers: response.headers });
}
