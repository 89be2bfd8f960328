/**
 * One connection to a realtime model by OpenAI's protocol: https://developers.openai.com/api/docs/guides/realtime-conversations
 * The recogniser of the call keeps the connection and sends the sound; the answers are asked for here. Who speaks when, and what is in the
 * history, is decided by the conversation: before each answer the session's items are made to say what the history says. Other servers
 * with this protocol name some events differently, and leave others out.
 */
import { hasWords, type ModelEvent } from '../../../calls/model-stream/index.ts';
import { ToolCallAssembler } from '../../../calls/model-stream/tool-call-assembler.ts';
import {
  errorTypeOf,
  STALL_TIMEOUT_MS,
  toCallFailure,
  type ProviderEndpoint,
  type ProviderErrorKind,
  type ProviderSocket,
} from '../../../calls/provider-access/index.ts';
import { withTimeout, type Clock } from '../../../platform/clock.ts';
import type { JsonObject } from '../../../platform/json.ts';
import { Semaphore } from '../../../platform/semaphore.ts';
import { CHAT } from '../../../platform/telemetry/gen-ai/conventions.ts';
import type { ModelRequestObserver, ObservedRequest, TokenUsage } from '../../../platform/telemetry/gen-ai/model-requests.ts';
import { chatRequestOf } from '../llm/chat-request.ts';
import type { AnswerRequest } from '../llm/history.ts';
import type { AnswerInProgress } from '../llm/language-model.ts';
import { asNumber, asText, at } from '../protocol-support.ts';
import { callWords, changesFor, type SessionItem } from './session-items.ts';

/** Longest wait for the end of an answer that was called off, in milliseconds: without it no other one can be asked for. */
const CANCEL_TIMEOUT_MS = 2_000;

/** Ids of events by which errors find what they belong to. */
const OWN = { asks: 'parley_ask_', tidies: 'parley_tidy_' } as const;

/** Reasons for which an answer ends early, with the part of it that came. */
const CUT_REASONS: Readonly<Record<string, 'length' | 'content_filter'>> = {
  max_output_tokens: 'length',
  content_filter: 'content_filter',
};

const TEXT_DELTAS = new Set([
  'response.output_text.delta',
  'response.text.delta',
  'response.output_audio_transcript.delta',
  'response.audio_transcript.delta',
]);

type Event = Exclude<ModelEvent, { readonly type: 'failure' }>;

export interface RealtimeSessionOptions {
  readonly socket: Pick<ProviderSocket, 'send' | 'close'>;
  readonly endpoint: ProviderEndpoint & { readonly model: string };
  readonly clock: Clock;
  readonly observer: ModelRequestObserver;
}

export class RealtimeSession {
  readonly #options: RealtimeSessionOptions;
  readonly #one = new Semaphore(1);
  #items: SessionItem[] = [];
  /** Instructions and tools that the session has, as JSON. */
  #told = '';
  #made = 0;
  #running: RunningAnswer | undefined;
  #lost = false;
  /** True once the server takes sound: then it answers, too. */
  #isReady = false;

  constructor(options: RealtimeSessionOptions) {
    this.#options = options;
  }

  get isReady(): boolean {
    return this.#isReady && !this.#lost;
  }

  /** Begins an answer. It is asked for when its events are read. */
  ask(request: AnswerRequest, signal: AbortSignal): AnswerInProgress {
    const answer = new RunningAnswer({
      ...this.#options,
      request,
      signal,
      begin: () => this.#begin(answer, request, signal),
      cancel: () => this.#cancel(answer),
    });
    return answer;
  }

  /** Takes a message of the server. @returns whether it is one for the recogniser, too */
  read(message: unknown): boolean {
    const type = asText(at(message, 'type')) ?? '';
    const itemId = asText(at(message, 'item_id'));
    switch (type) {
      case 'session.updated':
        this.#isReady = true;
        return true;
      case 'input_audio_buffer.committed':
        if (itemId !== undefined) this.#items.push({ id: itemId, kind: 'user', words: undefined, isSound: true });
        return true;
      case 'conversation.item.input_audio_transcription.completed':
        this.#change(itemId, { words: asText(at(message, 'transcript')) ?? '' });
        return true;
      case 'error':
        return this.#error(asText(at(message, 'error', 'event_id')) ?? '');
      default:
        if (!type.startsWith('response.')) return true;
        this.#readResponse(type, message);
        return false;
    }
  }

  /** Notes that the connection is gone. */
  lose(): void {
    this.#lost = true;
    this.#running?.fail('connection_lost', 'closed the connection in the middle of an answer');
    this.#running?.release?.();
    this.#running = undefined;
  }

  async #begin(answer: RunningAnswer, request: AnswerRequest, signal: AbortSignal): Promise<void> {
    const release = await this.#one.acquire(signal);
    if (this.#lost) {
      release();
      return answer.fail('unreachable', 'has no connection any more');
    }
    this.#running = answer;
    answer.release = release;
    this.#tell(request);
    const changes = changesFor(this.#items, request.history, () => `item_parley_${(this.#made += 1)}`);
    for (const id of changes.deleted) this.#send(OWN.tidies, 'conversation.item.delete', { item_id: id });
    for (const { after, item } of changes.created) this.#send(OWN.asks, 'conversation.item.create', { previous_item_id: after, item });
    this.#items = [...changes.items];
    this.#send(OWN.asks, 'response.create', { response: { tool_choice: request.mayCall ? 'auto' : 'none' } });
  }

  #tell({ instructions, tools }: AnswerRequest): void {
    const session = {
      type: 'realtime',
      instructions,
      tools: tools.map(({ name, description, parameters: { $schema: _dropped, ...parameters } }) => ({
        type: 'function',
        name,
        description,
        parameters,
      })),
    };
    const told = JSON.stringify(session);
    if (told === this.#told) return;
    this.#told = told;
    this.#send(OWN.asks, 'session.update', { session });
  }

  #cancel(answer: RunningAnswer): void {
    if (this.#running !== answer) return;
    this.#send(OWN.tidies, 'response.cancel', {});
    const timer = this.#options.clock.after(CANCEL_TIMEOUT_MS, () => {
      if (this.#running === answer) this.#options.socket.close();
    });
    answer.onReleased = () => timer.cancel();
  }

  #send(own: string, type: string, fields: JsonObject): void {
    this.#options.socket.send(JSON.stringify({ type, event_id: `${own}${(this.#made += 1)}`, ...fields }));
  }

  #change(id: string | undefined, change: Partial<SessionItem>): void {
    this.#items = this.#items.map((item) => (item.id === id ? { ...item, ...change } : item));
  }

  /** @returns whether the error is one for the recogniser */
  #error(eventId: string): boolean {
    if (eventId.startsWith(OWN.tidies)) return false;
    if (!eventId.startsWith(OWN.asks)) return true;
    this.#running?.fail('runtime', 'reported an error in place of an answer');
    this.#end();
    // What the session holds is not known any more.
    this.#options.socket.close();
    return false;
  }

  #readResponse(type: string, message: unknown): void {
    const answer = this.#running;
    const id = asText(at(message, 'response_id')) ?? asText(at(message, 'response', 'id'));
    if (answer === undefined || (answer.id !== undefined && id !== undefined && answer.id !== id)) return;
    answer.id ??= id;
    const itemId = asText(at(message, 'item_id'));
    if (TEXT_DELTAS.has(type)) return this.#said(answer, itemId, asText(at(message, 'delta')) ?? '');
    switch (type) {
      case 'response.output_item.added':
      case 'response.output_item.done':
        return this.#readItem(answer, at(message, 'item'), type.endsWith('.done'));
      case 'response.function_call_arguments.delta':
        return answer.calls();
      case 'response.done': {
        const output = at(message, 'response', 'output');
        for (const item of Array.isArray(output) ? (output as readonly unknown[]) : []) this.#readItem(answer, item, true);
        answer.done({
          status: asText(at(message, 'response', 'status')) ?? 'completed',
          reason: asText(at(message, 'response', 'status_details', 'reason')) ?? '',
          usage: usageOf(at(message, 'response', 'usage')),
        });
        return this.#end();
      }
    }
  }

  #said(answer: RunningAnswer, itemId: string | undefined, text: string): void {
    if (itemId !== undefined && !this.#items.some(({ id }) => id === itemId)) this.#items.push({ id: itemId, kind: 'agent', words: '' });
    this.#change(itemId, { words: (this.#items.find(({ id }) => id === itemId)?.words ?? '') + text });
    answer.says(text);
  }

  /** Takes an item of the answer. Some servers send no deltas, and others nothing but the answer as a whole. */
  #readItem(answer: RunningAnswer, item: unknown, complete: boolean): void {
    const id = asText(at(item, 'id'));
    if (id === undefined) return;
    if (at(item, 'type') === 'function_call') {
      const callId = asText(at(item, 'call_id')) ?? id;
      const name = asText(at(item, 'name')) ?? '';
      this.#have({ id, kind: 'call', words: callWords(callId, name) });
      answer.calls();
      if (complete) answer.called({ item: id, id: callId, name, args: asText(at(item, 'arguments')) ?? '' });
    } else if (at(item, 'type') === 'message') {
      this.#have({ id, kind: 'agent', words: '' });
      const known = this.#items.find((each) => each.id === id)?.words ?? '';
      const whole = contentOf(at(item, 'content'));
      if (complete && whole.length > known.length && whole.startsWith(known)) this.#said(answer, id, whole.slice(known.length));
    }
  }

  #have(item: SessionItem): void {
    if (this.#items.some(({ id }) => id === item.id)) return item.kind === 'call' ? this.#change(item.id, item) : undefined;
    this.#items.push(item);
  }

  #end(): void {
    const answer = this.#running;
    this.#running = undefined;
    answer?.release?.();
    answer?.onReleased?.();
  }
}

interface RunningAnswerOptions extends Pick<RealtimeSessionOptions, 'endpoint' | 'clock' | 'observer'> {
  readonly request: AnswerRequest;
  readonly signal: AbortSignal;
  readonly begin: () => Promise<void>;
  readonly cancel: () => void;
}

interface Called {
  /** Id of the item. */
  readonly item: string;
  readonly id: string;
  readonly name: string;
  readonly args: string;
}

/** One answer, from its request to its end. */
class RunningAnswer implements AnswerInProgress {
  readonly #options: RunningAnswerOptions;
  id: string | undefined;
  release: (() => void) | undefined;
  onReleased: (() => void) | undefined;
  readonly #events: (Event | Error)[] = [];
  readonly #called = new Map<string, Called>();
  #next = Promise.withResolvers<void>();
  #observed: ObservedRequest | undefined;
  #words = '';
  #callsTool = false;
  #over = false;
  #lastAt = 0;

  constructor(options: RunningAnswerOptions) {
    this.#options = options;
  }

  get callsTool(): boolean {
    return this.#callsTool;
  }

  get silentForMs(): number {
    return this.#options.clock.monotonic() - this.#lastAt;
  }

  async *events(): AsyncGenerator<Event> {
    const { request, signal, clock, observer, endpoint, begin, cancel } = this.#options;
    const aborted = (): void => this.#next.resolve();
    signal.addEventListener('abort', aborted);
    try {
      await begin();
      this.#lastAt = clock.monotonic();
      const { provider, model, baseURL: address } = endpoint;
      const body = JSON.stringify(chatRequestOf({ endpoint, request }));
      this.#observed = observer.begin({ operation: CHAT, provider, model, address, streams: true, body });
      for (;;) {
        signal.throwIfAborted();
        for (const event of this.#events.splice(0)) {
          if (event instanceof Error) throw event;
          yield event;
          if (event.type === 'end') return;
          signal.throwIfAborted();
        }
        if (this.#events.length > 0) continue;
        if (
          (await withTimeout(
            clock,
            STALL_TIMEOUT_MS,
            this.#next.promise.then(() => true),
          )) === undefined
        )
          throw toCallFailure(endpoint, 'unreachable', `sent nothing for ${STALL_TIMEOUT_MS} ms`, { slow: true });
        this.#next = Promise.withResolvers<void>();
      }
    } catch (error) {
      if (!signal.aborted) this.#observed?.end({ failure: errorTypeOf(error) });
      throw error;
    } finally {
      signal.removeEventListener('abort', aborted);
      if (!this.#over) cancel();
    }
  }

  says(text: string): void {
    this.#words += text;
    this.#came();
    if (text !== '') this.#add({ type: 'text', text });
  }

  /** Notes that a call is under way. */
  calls(): void {
    this.#callsTool = true;
    this.#came();
  }

  called(call: Called): void {
    this.#called.set(call.item, call);
  }

  done({ status, reason, usage }: { readonly status: string; readonly reason: string; readonly usage: TokenUsage | undefined }): void {
    if (this.#over) return;
    const { request, signal, endpoint } = this.#options;
    this.#over = true;
    this.#observed?.end(signal.aborted ? 'cancelled' : 'completed', { id: this.id, usage, text: this.#words });
    const cut = status === 'incomplete' ? (CUT_REASONS[reason] ?? 'length') : undefined;
    if (cut === undefined && status !== 'completed')
      return this.#add(toCallFailure(endpoint, status === 'failed' ? 'runtime' : 'connection_lost', `ended the answer as ${status}`));
    if (usage !== undefined) this.#add({ type: 'usage', usage });
    const calls = request.mayCall ? this.#assembled() : [];
    if (calls.length === 0 && !hasWords(this.#words) && !request.mayBeEmpty())
      return this.#add(toCallFailure(endpoint, 'empty', 'gave an answer without words and calls'));
    if (cut === undefined) for (const call of calls) this.#add({ type: 'call', call });
    this.#add({ type: 'end', reason: cut ?? (calls.length > 0 ? 'tool_calls' : 'stop'), unfinished: cut === undefined ? [] : calls });
  }

  fail(kind: ProviderErrorKind, message: string): void {
    if (this.#over) return;
    this.#over = true;
    const failure = toCallFailure(this.#options.endpoint, kind, message);
    this.#observed?.end({ failure: errorTypeOf(failure) }, this.#words === '' ? undefined : { text: this.#words });
    this.#add(failure);
  }

  #assembled() {
    const usedIds = new Set(this.#options.request.history.flatMap((item) => (item.type === 'call' ? [item.callId] : [])));
    const assembler = new ToolCallAssembler({ idSeed: this.id ?? '', usedIds });
    for (const [index, { id, name, args }] of [...this.#called.values()].entries())
      assembler.add([{ id, index, function: { name, arguments: args } }]);
    return assembler.take();
  }

  #came(): void {
    this.#observed?.firstChunk();
    this.#lastAt = this.#options.clock.monotonic();
    this.#next.resolve();
  }

  #add(event: Event | Error): void {
    this.#events.push(event);
    this.#next.resolve();
  }
}

/** Returns the words of a message's parts. */
function contentOf(content: unknown): string {
  const parts = Array.isArray(content) ? (content as readonly unknown[]) : [];
  return parts.map((part) => asText(at(part, 'text')) ?? asText(at(part, 'transcript')) ?? '').join('');
}

function usageOf(usage: unknown): TokenUsage | undefined {
  const [inputTokens = 0, outputTokens = 0] = [asNumber(at(usage, 'input_tokens')), asNumber(at(usage, 'output_tokens'))];
  if (inputTokens + outputTokens === 0) return undefined;
  return { inputTokens, outputTokens, cachedTokens: asNumber(at(usage, 'input_token_details', 'cached_tokens')) };
}
