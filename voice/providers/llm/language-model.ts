/** A language model that speaks OpenAI's protocol. */
import { CompletionRequest, type ModelQuirks, type ProviderEndpoint, type ProviderFetch } from '../../../calls/provider-access/index.ts';
import type { Named } from '../../../calls/fallback/provider-order.ts';
import type { Clock } from '../../../platform/clock.ts';
import { unobserved, type ModelRequestObserver } from '../../../platform/telemetry/gen-ai/model-requests.ts';
import { chatRequestOf } from './chat-request.ts';
import { ContextWindow } from './context-window.ts';
import type { AnswerRequest } from './history.ts';

export interface LanguageModelOptions {
  readonly endpoint: ProviderEndpoint & { readonly baseURL: string; readonly model: string };
  /** Temperature of the agent; absent where the server's own is meant. */
  readonly temperature?: number | undefined;
  readonly maxTokens?: number | undefined;
  readonly contextTokens?: number | undefined;
  readonly fetch: ProviderFetch;
  readonly quirks: ModelQuirks;
  readonly clock: Clock;
  readonly observer?: ModelRequestObserver | undefined;
}

export interface AskOptions {
  readonly signal: AbortSignal;
  /** Tokens that an answer may have, also where the agent's may not. */
  readonly tokens?: number;
}

/** An answer under way. */
export type AnswerInProgress = Pick<CompletionRequest, 'events' | 'callsTool' | 'silentForMs'>;

/** A model that answers in calls. */
export interface AnsweringModel extends Named {
  readonly window: ContextWindow;
  /** Asks the model. @returns an answer that is asked for when its events are read */
  ask(request: AnswerRequest, options: AskOptions): AnswerInProgress;
  prewarm(signal: AbortSignal): Promise<void>;
}

export class LanguageModel implements AnsweringModel {
  readonly #options: LanguageModelOptions;
  readonly window: ContextWindow;

  constructor(options: LanguageModelOptions) {
    const { endpoint, maxTokens, contextTokens } = options;
    this.#options = options;
    this.window = new ContextWindow({ model: endpoint.model, contextTokens, maxTokens });
  }

  get model(): string {
    return this.#options.endpoint.model;
  }

  get provider(): string {
    return this.#options.endpoint.provider;
  }

  /** Asks the model. @returns a request that is sent when its events are read */
  ask(request: AnswerRequest, { signal, tokens = 0 }: AskOptions): CompletionRequest {
    const { endpoint, temperature, maxTokens, fetch, quirks, clock, observer = unobserved } = this.#options;
    const limit = maxTokens === undefined ? undefined : Math.max(maxTokens, Math.ceil(tokens));
    return new CompletionRequest({
      endpoint,
      request: chatRequestOf({ endpoint, request, temperature, maxTokens: limit }),
      fetch,
      quirks,
      clock,
      observer,
      signal,
      usedIds: new Set(request.history.flatMap((item) => (item.type === 'call' ? [item.callId] : []))),
      mayBeEmpty: request.mayBeEmpty,
    });
  }

  /** Opens the connection with the cheapest request there is. Never rejects. */
  async prewarm(signal: AbortSignal): Promise<void> {
    const { endpoint, fetch } = this.#options;
    const headers = endpoint.apiKey === undefined ? {} : { authorization: `Bearer ${endpoint.apiKey}` };
    try {
      const response = await fetch(`${endpoint.baseURL}/models`, { headers, signal });
      await response.body?.cancel();
    } catch {
      // The first answer opens the connection, or says what is wrong.
    }
  }
}
