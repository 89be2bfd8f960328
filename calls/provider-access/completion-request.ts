/** One request to a model that speaks OpenAI's `/chat/completions`, and the events of its answer: for calls, analyses and tests. */
import { withTimeout, type Clock } from '../../platform/clock.ts';
import { parseJson, type JsonObject } from '../../platform/json.ts';
import { messagesText, textPart, valueText, type ContentMessage } from '../../platform/telemetry/gen-ai/content.ts';
import * as genAi from '../../platform/telemetry/gen-ai/conventions.ts';
import { CHAT, OUTPUT_MESSAGES } from '../../platform/telemetry/gen-ai/conventions.ts';
import type { ModelAnswer, ModelRequestObserver, ObservedRequest, TokenUsage } from '../../platform/telemetry/gen-ai/model-requests.ts';
import { capturesContent, type Attributes } from '../../platform/telemetry/tracing.ts';
import { hasWords, ModelStreamReader, type FailureReason, type ModelCall, type ModelEvent } from '../model-stream/index.ts';
import { TOO_LONG } from './connection-failures.ts';
import type { ProviderEndpoint } from './endpoint.ts';
import { withoutParameters, type ModelQuirks } from './model-quirks.ts';
import { errorTypeOf, ProviderError, toCallFailure, type ProviderErrorKind } from './provider-failure.ts';
import type { ProviderFetch } from './provider-fetch.ts';

export interface CompletionRequestOptions {
  readonly endpoint: ProviderEndpoint & { readonly baseURL: string; readonly model: string };
  /** The request is sent without the parameters that the model refuses. */
  readonly request: JsonObject;
  readonly fetch: ProviderFetch;
  readonly quirks: ModelQuirks;
  readonly clock: Clock;
  readonly observer: ModelRequestObserver;
  readonly signal: AbortSignal;
  /** Ids of calls in the conversation: no other call gets one of them. */
  readonly usedIds?: ReadonlySet<string> | undefined;
  /** Whether an answer may have neither words nor calls. */
  readonly mayBeEmpty: () => boolean;
}

/** How long the rest after a complete answer, such as its usage, is read, in milliseconds; it is less than an answer may be silent. */
const REST_TIMEOUT_MS = 500;
/** Most characters of an answer's words on a span. */
const MAX_WORDS = 64 * 1024;

const FAILURES: Readonly<Record<FailureReason, readonly [ProviderErrorKind, string]>> = {
  not_a_completion: ['payload', 'sent what is no chat completion: check its address'],
  unreadable: ['payload', "sent an answer that can't be read"],
  too_large: ['payload', 'sent an answer that is too large'],
  cut_off: ['connection_lost', 'ended in the middle of an answer'],
  error: ['runtime', 'reported an error in place of an answer, or of its rest'],
};

export class CompletionRequest {
  readonly #options: CompletionRequestOptions;
  /** The body that was sent last. */
  #body = '';
  #observed: ObservedRequest | undefined;
  #reader: ModelStreamReader | undefined;
  #lastChunkAt = 0;
  #finishedAt: number | undefined;
  #usage: TokenUsage | undefined;
  #answered = false;
  #words = '';
  #calls: readonly ModelCall[] = [];

  constructor(options: CompletionRequestOptions) {
    this.#options = options;
    // Who is interrupted reads no further, and need not say so.
    options.signal.addEventListener('abort', () => this.#conclude('cancelled'), { once: true });
  }

  /** Id of the completion; empty before its first part. */
  get id(): string {
    return this.#reader?.id ?? '';
  }

  /** Milliseconds since a part of the answer came, also of a tool call, which is given when it is complete. */
  get silentForMs(): number {
    return this.#options.clock.monotonic() - this.#lastChunkAt;
  }

  get callsTool(): boolean {
    return this.#reader?.callsTool ?? false;
  }

  /** Ends with the event `end`. @throws ProviderError, or the signal's own reason */
  async *events(): AsyncGenerator<Exclude<ModelEvent, { readonly type: 'failure' }>> {
    const { signal, clock } = this.#options;
    let body: ReadableStreamDefaultReader<Uint8Array> | undefined;
    try {
      body = (await this.#send()).body?.getReader();
      this.#reader = this.#createReader();
      const reader = this.#reader;
      while (!reader.over) {
        const bytes = await this.#next(body, reader);
        signal.throwIfAborted();
        const before = reader.chunks;
        const events = bytes === undefined ? reader.end() : reader.push(bytes);
        if (reader.chunks > before) {
          this.#lastChunkAt = clock.monotonic();
          this.#observed?.firstChunk();
        }
        // It wasn't complete after all: some servers send a finish with each chunk.
        if (events.length > 0 && !reader.over) this.#finishedAt = undefined;
        for (const event of events) {
          if (event.type === 'failure') throw this.#failureOf(event);
          if (this.#counts(event)) yield event;
        }
      }
      this.#conclude('completed');
    } catch (error) {
      this.#conclude(signal.aborted ? 'cancelled' : { failure: errorTypeOf(error) });
      throw error;
    } finally {
      this.#conclude('cancelled');
      void this.#release(body);
    }
  }

  /** Keeps the connection for the next request after a complete answer, unless the body doesn't end. */
  async #release(body: ReadableStreamDefaultReader<Uint8Array> | undefined): Promise<void> {
    if (body === undefined) return;
    while (this.#reader?.finished === true && (await this.#next(body, this.#reader)) !== undefined);
    await body.cancel().catch(() => undefined);
  }

  /** A server that refuses a parameter is asked again without it. */
  async #send(): Promise<Response> {
    const { endpoint, request, quirks } = this.#options;
    const refused = new Set(quirks.of(endpoint).refused);
    for (;;) {
      const sent = withoutParameters(request, refused);
      try {
        const response = await this.#sendOnce(sent);
        if (refused.size > quirks.of(endpoint).refused.size) quirks.add(endpoint, { refused });
        return response;
      } catch (error) {
        const named = error instanceof ProviderError ? error.refusedParameters.find((name) => name in sent) : undefined;
        if (named === undefined) throw error;
        this.#conclude({ failure: errorTypeOf(error) });
        refused.add(named);
      }
    }
  }

  #sendOnce(request: JsonObject): Promise<Response> {
    const { endpoint, fetch, observer, signal } = this.#options;
    const { provider, model, baseURL: address, apiKey } = endpoint;
    const body = JSON.stringify(request);
    this.#body = body;
    return fetch(`${address}/chat/completions`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
        ...(apiKey !== undefined && provider === 'azure_openai' && { 'api-key': apiKey }),
      },
      body,
      signal,
      onSend: () => {
        const streams = request['stream'] === true;
        this.#observed = observer.begin({ operation: CHAT, provider, model, address, streams, body, attributes: chatAttributes(request) });
      },
    });
  }

  #createReader(): ModelStreamReader {
    const { endpoint, quirks, usedIds } = this.#options;
    const { beginsWithReasoning } = quirks.of(endpoint);
    // A replay makes up the same ids, and no two requests of a conversation are the same.
    return new ModelStreamReader({ idSeed: this.#body, usedIds, beginsWithReasoning });
  }

  async #next(body: ReadableStreamDefaultReader<Uint8Array> | undefined, reader: ModelStreamReader): Promise<Uint8Array | undefined> {
    if (body === undefined) return undefined;
    if (!reader.finished) return (await body.read()).value;
    const { clock } = this.#options;
    this.#finishedAt ??= clock.monotonic();
    const leftMs = this.#finishedAt + REST_TIMEOUT_MS - clock.monotonic();
    // Something may come for ever.
    if (leftMs <= 0) return undefined;
    return (await withTimeout(clock, leftMs, body.read()).catch(() => undefined))?.value;
  }

  /** Keeps what the observer is told. @returns whether the event is passed on */
  #counts(event: Exclude<ModelEvent, { readonly type: 'failure' }>): boolean {
    const { endpoint, request, quirks, mayBeEmpty } = this.#options;
    if (event.type === 'text') {
      this.#answered ||= hasWords(event.text);
      this.#words = (this.#words + event.text).slice(0, MAX_WORDS);
    } else if (event.type === 'retract') {
      this.#answered = false;
      this.#words = '';
    } else if (event.type === 'call') {
      if (request['tool_choice'] === 'none') return false;
      this.#answered = true;
      this.#calls = [...this.#calls, event.call];
    } else if (event.type === 'usage') this.#usage = event.usage;
    else if (event.type === 'end') {
      const beginsWithReasoning = this.#reader?.foundLoneReasoningEnd ?? false;
      if (beginsWithReasoning !== quirks.of(endpoint).beginsWithReasoning) quirks.add(endpoint, { beginsWithReasoning });
      if (!this.#answered && !mayBeEmpty())
        throw toCallFailure(endpoint, 'empty', `gave an answer without words and calls (${event.reason})`);
    }
    return true;
  }

  /** Describes the failure without the server's words, which may quote what was asked. */
  #failureOf({ reason, message }: Extract<ModelEvent, { readonly type: 'failure' }>): ProviderError {
    const { endpoint } = this.#options;
    const tooLong = reason === 'error' && TOO_LONG.test(message);
    return toCallFailure(endpoint, ...FAILURES[reason], { tooLong });
  }

  #conclude(outcome: Parameters<ObservedRequest['end']>[0]): void {
    const observed = this.#observed;
    this.#observed = undefined;
    observed?.end(outcome, this.#reader && this.#answerOf(this.#reader));
  }

  #answerOf({ id, model, finishReason, received }: ModelStreamReader): ModelAnswer {
    return {
      id,
      model,
      finishReasons: finishReason === undefined ? undefined : [finishReason],
      usage: this.#usage,
      text: received,
      ...(capturesContent() && { attributes: { [OUTPUT_MESSAGES]: this.#messages(finishReason) } }),
    };
  }

  #messages(finishReason = ''): string {
    const calls = this.#calls.map(({ id, name, arguments: args }) => ({ type: 'tool_call', id, name, arguments: parseJson(args, args) }));
    const parts = [...(this.#words === '' ? [] : [textPart(this.#words)]), ...calls];
    // Their word for it is singular.
    return messagesText([{ role: 'assistant', parts, finish_reason: finishReason === 'tool_calls' ? 'tool_call' : finishReason }]);
  }
}

interface ChatRequest {
  readonly temperature?: unknown;
  readonly max_tokens?: unknown;
  readonly max_completion_tokens?: unknown;
  readonly response_format?: unknown;
  readonly messages?: readonly SentMessage[] | undefined;
}
interface SentMessage {
  readonly role: string;
  readonly content?: string | readonly { readonly text?: string }[] | null;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly name: string; readonly arguments: string } }[];
}

/** Attributes that the span of a request to OpenAI's `/chat/completions` takes from it. */
function chatAttributes(request: ChatRequest): Attributes {
  const { temperature, max_tokens, max_completion_tokens, response_format } = request;
  const maxTokens = max_completion_tokens ?? max_tokens;
  return {
    [genAi.OUTPUT_TYPE]: response_format === undefined ? 'text' : 'json',
    ...(typeof temperature === 'number' && { [genAi.REQUEST_TEMPERATURE]: temperature }),
    ...(typeof maxTokens === 'number' && { [genAi.REQUEST_MAX_TOKENS]: maxTokens }),
    ...(capturesContent() && messageAttributes(request.messages ?? [])),
  };
}

function messageAttributes(messages: readonly SentMessage[]): Attributes {
  const instructions = messages.filter(({ role }) => role === 'system');
  const said = messages.filter(({ role }) => role !== 'system');
  return {
    ...(instructions.length > 0 && { [genAi.SYSTEM_INSTRUCTIONS]: valueText(instructions.flatMap(messageParts)) }),
    [genAi.INPUT_MESSAGES]: messagesText(said.map((message): ContentMessage => ({ role: message.role, parts: messageParts(message) }))),
  };
}

function messageParts({ content, tool_call_id: answers, tool_calls: calls = [] }: SentMessage): readonly object[] {
  const text = typeof content === 'string' ? content : (content ?? []).map((part) => part.text ?? '').join('');
  if (answers !== undefined) return [{ type: 'tool_call_response', id: answers, response: parseJson(text, text) }];
  return [
    ...(text === '' ? [] : [textPart(text)]),
    ...calls.map(({ id, function: called }) => ({
      type: 'tool_call',
      id,
      name: called.name,
      arguments: parseJson(called.arguments, called.arguments),
    })),
  ];
}
