/** A language model that speaks OpenAI's protocol, for LiveKit's session. */
import { type APIConnectOptions, DEFAULT_API_CONNECT_OPTIONS, llm as llms } from '@livekit/agents';

import {
  CompletionRequest,
  failureOf,
  type ModelQuirks,
  ProviderError,
  type ProviderEndpoint,
  type ProviderFetch,
} from '../../calls/provider-access/index.ts';
import { argumentsToPass, rawArguments, type ModelCall, type ModelEvent } from '../../calls/model-stream/index.ts';
import type { Clock } from '../../../platform/clock.ts';
import { isObject, type JsonObject } from '../../../platform/json.ts';
import { unobserved, type ModelRequestObserver } from '../../../platform/telemetry/gen-ai/model-requests.ts';
import { ProviderApiError } from '../provider-errors.ts';
import { chatRequestOf, limitName } from './chat-request.ts';
import { ContextWindow } from './context-window.ts';

export interface LanguageModelOptions {
  readonly endpoint: ProviderEndpoint & { readonly baseURL: string; readonly model: string };
  /** Absent where the server's own is meant. */
  readonly temperature?: number | undefined;
  readonly maxTokens?: number | undefined;
  readonly contextTokens?: number | undefined;
  readonly fetch: ProviderFetch;
  readonly quirks: ModelQuirks;
  readonly clock: Clock;
  readonly observer?: ModelRequestObserver | undefined;
}

interface ChatOptions extends Omit<Parameters<llms.LLM['chat']>[0], 'extraKwargs'> {
  readonly extraKwargs?: JsonObject;
  /** Whether an answer may have neither words nor calls; otherwise such a one is a failure. */
  readonly mayBeEmpty?: () => boolean;
}

export class LanguageModel extends llms.LLM {
  readonly #options: LanguageModelOptions;
  readonly window: ContextWindow;

  constructor(options: LanguageModelOptions) {
    super();
    const { endpoint, maxTokens, contextTokens } = options;
    this.#options = options;
    this.window = new ContextWindow({ model: endpoint.model, contextTokens, maxTokens });
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

  override chat({ chatCtx, toolCtx, connOptions = DEFAULT_API_CONNECT_OPTIONS, ...chat }: ChatOptions): CompletionStream {
    return new CompletionStream(this, { ...this.#options, chatCtx, toolCtx: llms.toToolContext(toolCtx), connOptions, chat });
  }

  /** Options of an answer that may be longer than those of the agent. */
  allowing(tokens: number): JsonObject {
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

interface CompletionOptions extends LanguageModelOptions {
  readonly chatCtx: llms.ChatContext;
  readonly toolCtx: llms.ToolContext | undefined;
  readonly connOptions: APIConnectOptions;
  readonly chat: Omit<ChatOptions, 'chatCtx' | 'toolCtx' | 'connOptions'>;
}

/** One completion. */
export class CompletionStream extends llms.LLMStream {
  /** Of the last attempt; set before the stream ends. */
  failure: ProviderApiError | undefined;
  readonly #options: CompletionOptions;
  #request: CompletionRequest | undefined;
  #text = '';

  constructor(model: LanguageModel, options: CompletionOptions) {
    const { chatCtx, toolCtx, connOptions } = options;
    super(model, { chatCtx, connOptions, ...(toolCtx !== undefined && { toolCtx }) });
    this.#options = options;
  }

  /** For how long no part of the answer came, in milliseconds; also of a tool call, which is read only when it is complete. */
  get silentForMs(): number {
    return this.#request?.silentForMs ?? 0;
  }

  /** Whether a tool call has begun. */
  get callsTool(): boolean {
    return this.#request?.callsTool ?? false;
  }

  /** What the model has said; unlike the chunks it has no reasoning that was known by its end alone. */
  get text(): string {
    return this.#text;
  }

  protected override async run(): Promise<void> {
    this.failure = undefined;
    this.#text = '';
    let used = false;
    try {
      const request = await this.#ask();
      for await (const event of request.events()) {
        const delta = this.#deltaOf(event);
        used ||= event.type === 'text' || event.type === 'call';
        if (delta !== undefined) this.queue.put({ id: request.id, delta: { role: 'assistant', ...delta } });
        if (event.type === 'usage') this.queue.put({ id: request.id, usage: usageOf(event.usage) });
      }
    } catch (error) {
      if (this.abortController.signal.aborted) return;
      const { endpoint } = this.#options;
      const failure = error instanceof ProviderError ? error : failureOf(endpoint, 'runtime', `failed (${(error as Error).name})`);
      // What was said can't be taken back.
      this.failure = new ProviderApiError(failure, { retryable: !used });
      throw this.failure;
    }
  }

  async #ask(): Promise<CompletionRequest> {
    const { endpoint, fetch, quirks, clock, observer = unobserved, chatCtx, chat, ...options } = this.#options;
    const { toolChoice, parallelToolCalls, extraKwargs: more, mayBeEmpty = () => false } = chat;
    this.#request = new CompletionRequest({
      endpoint,
      request: await chatRequestOf({ ...options, endpoint, chatCtx, toolChoice, parallelToolCalls, more }),
      fetch,
      quirks,
      clock,
      observer,
      signal: this.abortController.signal,
      usedIds: new Set(chatCtx.items.flatMap((item) => (item.type === 'function_call' ? [item.callId] : []))),
      mayBeEmpty,
    });
    return this.#request;
  }

  #deltaOf(event: ModelEvent): Pick<llms.ChoiceDelta, 'content' | 'toolCalls' | 'extra'> | undefined {
    switch (event.type) {
      case 'text':
        this.#text += event.text;
        return { content: event.text };
      case 'retract':
        this.#text = '';
        return undefined;
      case 'extra':
        return { extra: event.extra };
      case 'call':
        return { toolCalls: [functionCallOf(event.call, argumentsToPass(event.call.arguments))] };
      case 'end':
        // Nothing of them may run: the model learns that when it gets their results.
        return event.unfinished.length === 0
          ? undefined
          : { toolCalls: event.unfinished.map((call) => functionCallOf(call, rawArguments(call.arguments))) };
      default:
        return undefined;
    }
  }
}

function functionCallOf({ id: callId, name, extra: added }: ModelCall, args: string): llms.FunctionCall {
  const extra = added?.['extra_content'];
  return llms.FunctionCall.create({ callId, name, args, ...(isObject(extra) && { extra }) });
}

function usageOf({
  inputTokens,
  outputTokens,
  cachedTokens = 0,
}: Extract<ModelEvent, { readonly type: 'usage' }>['usage']): llms.CompletionUsage {
  return {
    promptTokens: inputTokens,
    completionTokens: outputTokens,
    promptCachedTokens: cachedTokens,
    totalTokens: inputTokens + outputTokens,
  };
}
