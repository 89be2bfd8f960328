/**
 * Reads an answer of `/chat/completions`, streamed or whole, into events. Total: whatever bytes come, it gives what the model said and called, and
 * exactly one `end` or `failure`, after which nothing counts.
 *
 * - Calls are given with the end, for only then they are known to be complete: some servers send a finish with each chunk. Where the server's limit or
 *   filter ended the answer, its calls are `unfinished` and must not run.
 * - Once the answer has finished, nothing fails it any more: neither a broken event nor a lost connection.
 * - Usage is given with the end alone: what a server says of an answer that is given up is a placeholder.
 */
import { canonicalJson } from '../../platform/canonical-json.ts';
import { cutText } from '../../platform/cut-text.ts';
import { isObject, parseJson, type JsonObject } from '../../platform/json.ts';
import type { TokenUsage } from '../../platform/telemetry/gen-ai/model-requests.ts';
import { ReasoningFilter, type Piece } from './reasoning-filter.ts';
import { SseDecoder, type SseEvent } from './sse-decoder.ts';
import { ToolCallAssembler, type ModelCall } from './tool-call-assembler.ts';

export type EndReason =
  | 'stop'
  | 'tool_calls'
  /** The limit of tokens cut the answer off. */
  | 'length'
  | 'content_filter'
  /** The model declined to answer. */
  | 'refusal'
  /** The answer has neither words nor calls. */
  | 'empty';

export type FailureReason =
  /** The answer has no event of a completion; it may be a page, for example. */
  | 'not_a_completion'
  /** An event is broken. */
  | 'unreadable'
  /** The answer broke off before it finished. */
  | 'cut_off'
  /** The server reports an error in place of an answer. */
  | 'error'
  /** An event, a body or the arguments have more than 4 Mi characters. */
  | 'too_large';

export type ModelEvent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  /** All text so far was reasoning, whose end alone was marked. */
  | { readonly type: 'retract' }
  /** The server wants to see this again with the answer. */
  | { readonly type: 'extra'; readonly extra: JsonObject }
  | { readonly type: 'call'; readonly call: ModelCall }
  | { readonly type: 'usage'; readonly usage: TokenUsage }
  | { readonly type: 'end'; readonly reason: EndReason; readonly unfinished: readonly ModelCall[] }
  /** @param message in the server's words where it reports an error: they may quote what was asked */
  | { readonly type: 'failure'; readonly reason: FailureReason; readonly message: string };

export interface ModelStreamReaderOptions {
  /** Made-up ids of calls derive from it. */
  readonly idSeed?: string;
  /** Ids of calls in the conversation: another call with one of them gets a made-up id. */
  readonly usedIds?: ReadonlySet<string> | undefined;
  /** See {@link ReasoningFilter}. */
  readonly beginsWithReasoning?: boolean;
}

/** Most characters of an event, a body or the arguments. */
const MAX_LENGTH = 4 * 1024 * 1024;
/** Most characters that are kept for an estimate of tokens. */
const MAX_RECEIVED = 1_000_000;
/** Most characters of an error's message. */
const MAX_MESSAGE = 1_000;
/** Spaces and signs that nobody sees or hears. */
const BLANK = /^[\s\p{Cc}\p{Cf}]+/u;

/** Finishes that cut the answer off, in lower case. Any other one but {@link FAILURES} is the model's own end. */
const CUTS: ReadonlyMap<string, 'length' | 'content_filter'> = new Map([
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['model_length', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['content_filter', 'content_filter'],
  ['content_filtered', 'content_filter'],
  // Gemini can't read the call.
  ['function_call_filter', 'content_filter'],
  ['guardrail_intervened', 'content_filter'],
  ['safety', 'content_filter'],
  ['sensitive', 'content_filter'],
]);
const FAILURES: ReadonlySet<string> = new Set(['error', 'abort', 'aborted', 'network_error', 'insufficient_system_resource']);

export class ModelStreamReader {
  readonly #utf8 = new TextDecoder();
  readonly #decoder = new SseDecoder();
  readonly #filter: ReasoningFilter;
  readonly #calls: ToolCallAssembler;
  #events: ModelEvent[] = [];
  /** A body that begins with a brace is one JSON object. */
  #form: 'unknown' | 'json' | 'events' = 'unknown';
  #body = '';
  #chunks = 0;
  #choice: unknown;
  #id: string | undefined;
  #model: string | undefined;
  #finish: string | undefined;
  /** The first finish that cuts the answer off counts, even if a gateway sends another one afterwards. */
  #cut: 'length' | 'content_filter' | undefined;
  #usage: TokenUsage | undefined;
  #received = '';
  #hasText = false;
  #refused = false;
  #over = false;

  constructor({ idSeed = '', usedIds = new Set(), beginsWithReasoning = false }: ModelStreamReaderOptions = {}) {
    this.#filter = new ReasoningFilter({ beginsWithReasoning });
    this.#calls = new ToolCallAssembler({ idSeed, usedIds });
  }

  push(bytes: Uint8Array): readonly ModelEvent[] {
    this.#read(this.#utf8.decode(bytes, { stream: true }));
    return this.#take();
  }

  /** Call it when the body is over. */
  end(): readonly ModelEvent[] {
    this.#read(this.#utf8.decode());
    if (this.#form === 'json') this.#readWhole();
    else for (const event of this.#decoder.end()) this.#readEvent(event);
    this.#conclude();
    return this.#take();
  }

  /** Whether the last event was given. */
  get over(): boolean {
    return this.#over;
  }

  /** Whether a finish has come: only usage can follow, unless the server sends a finish with each chunk. */
  get finished(): boolean {
    return this.#finish !== undefined;
  }

  get id(): string | undefined {
    return this.#id;
  }

  get model(): string | undefined {
    return this.#model;
  }

  /** The server's own word for the finish. */
  get finishReason(): string | undefined {
    return this.#finish;
  }

  /** Number of chunks of the answer; comments don't count. */
  get chunks(): number {
    return this.#chunks;
  }

  get callsTool(): boolean {
    return this.#calls.begun;
  }

  /** Whether the model's answers have to be read with `beginsWithReasoning`. */
  get foundLoneReasoningEnd(): boolean {
    return this.#filter.foundLoneEnd;
  }

  /** The words, reasoning and calls that the model has written so far; those beyond a million characters are missing. */
  get received(): string {
    return this.#received;
  }

  #take(): readonly ModelEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  #read(text: string): void {
    if (this.#over) return;
    let rest = text;
    if (this.#form === 'unknown') {
      rest = text.trimStart();
      if (rest !== '') this.#form = rest.startsWith('{') ? 'json' : 'events';
    }
    if (this.#form === 'json') this.#body += rest;
    else for (const event of this.#decoder.push(rest)) this.#readEvent(event);
    if (Math.max(this.#body.length, this.#decoder.length, this.#calls.length) <= MAX_LENGTH) return;
    this.#fail('too_large', 'the answer is too large');
    this.#conclude();
  }

  #readEvent({ data, value, event }: SseEvent): void {
    if (this.#over) return;
    if (data === '[DONE]') {
      this.#finish ??= 'stop';
      return this.#conclude();
    }
    if (event === 'error') return this.#fail('error', data);
    if (value === undefined && data.startsWith('{')) return this.#fail('unreadable', 'an event of the answer is no JSON');
    this.#readChunk(value);
  }

  #readWhole(): void {
    if (this.#over) return;
    const value = parseJson(this.#body);
    this.#body = '';
    if (value === undefined) return this.#fail('unreadable', 'the answer is no JSON');
    this.#readChunk(value);
    if (this.#chunks > 0) this.#finish ??= 'stop';
  }

  #readChunk(value: unknown): void {
    if (!isObject(value)) return;
    const choice = this.#choiceIn(value['choices']);
    const groq = isObject(value['x_groq']) ? value['x_groq'] : {};
    this.#id ??= nonEmptyText(value['id']);
    this.#model ??= nonEmptyText(value['model']);
    this.#usage = usageOf(value['usage'] ?? choice?.['usage'] ?? groq['usage']) ?? this.#usage;
    // OpenRouter has it in the choice, too, beside any finish; older servers send it in place of a chunk.
    const error = [value['error'], choice?.['error'], groq['error'], value['object'] === 'error' ? value : undefined].find(isError);
    if (error !== undefined) return this.#fail('error', typeof error === 'string' ? error : canonicalJson(error));
    if ('choices' in value || 'usage' in value) this.#chunks += 1;
    if (choice === undefined) return;
    const part = [choice['delta'], choice['message']].find(isObject);
    if (part !== undefined) this.#readPart(part);
    const finish = nonEmptyText(choice['finish_reason']);
    if (finish === undefined || finish === 'null') return;
    // Gemini's finishes have details behind a colon.
    const word = finish.toLowerCase().replace(/:.*/s, '');
    if (FAILURES.has(word)) return this.#fail('error', `the server ended the answer with "${finish}"`);
    this.#finish = finish;
    this.#cut ??= CUTS.get(word);
  }

  /** One answer was asked for: of several the first that comes counts. */
  #choiceIn(choices: unknown): JsonObject | undefined {
    const all = Array.isArray(choices) ? choices.filter(isObject) : [];
    const choice = this.#choice === undefined ? all[0] : all.find(({ index }) => (index ?? 0) === this.#choice);
    if (choice !== undefined) this.#choice ??= choice['index'] ?? 0;
    return choice;
  }

  #readPart(part: JsonObject): void {
    // Some servers send it under both names.
    this.#reason(nonEmptyText(part['reasoning_content']) ?? nonEmptyText(part['reasoning']) ?? '');
    this.#readContent(part['content']);
    this.#refused ||= nonEmptyText(part['refusal']) !== undefined;
    if (isObject(part['extra_content'])) this.#events.push({ type: 'extra', extra: part['extra_content'] });
    const former = part['function_call'];
    this.#keep(this.#calls.add(part['tool_calls'] ?? (isObject(former) ? { function: former } : undefined)));
  }

  /** A text, a part, or a list of parts; some parts are reasoning. */
  #readContent(content: unknown): void {
    if (typeof content === 'string') {
      this.#keep(content);
      this.#say(this.#filter.push(content));
    } else
      for (const part of Array.isArray(content) ? (content as readonly unknown[]) : [content]) {
        if (isObject(part) && (part['type'] === 'thinking' || part['type'] === 'reasoning'))
          this.#reason(plainText(part['thinking'] ?? part));
        else this.#readContent(plainText(part));
      }
  }

  #reason(text: string): void {
    if (text === '') return;
    this.#keep(text);
    this.#say(this.#filter.decide());
    this.#events.push({ type: 'reasoning', text });
  }

  #say(pieces: readonly Piece[]): void {
    for (const piece of pieces) {
      if (piece.type === 'retract') {
        if (this.#hasText) this.#events.push(piece);
        this.#hasText = false;
        continue;
      }
      // An answer begins with its first visible sign.
      const text = piece.type === 'text' && !this.#hasText ? piece.text.replace(BLANK, '') : piece.text;
      if (text === '') continue;
      if (piece.type === 'text') this.#hasText = true;
      this.#events.push({ type: piece.type, text });
    }
  }

  #keep(text: string): void {
    this.#received += text.slice(0, MAX_RECEIVED - this.#received.length);
  }

  #conclude(): void {
    if (this.#over) return;
    if (this.#finish === undefined) {
      return this.#chunks === 0
        ? this.#fail('not_a_completion', 'no part of an answer came')
        : this.#fail('cut_off', 'the stream ended before the answer did');
    }
    this.#say(this.#filter.flush());
    const calls = this.#calls.take();
    const cut = this.#cut;
    if (cut === undefined) for (const call of calls) this.#events.push({ type: 'call', call });
    if (this.#usage !== undefined) this.#events.push({ type: 'usage', usage: this.#usage });
    const reason = cut ?? (calls.length > 0 ? 'tool_calls' : this.#hasText ? 'stop' : this.#refused ? 'refusal' : 'empty');
    this.#events.push({ type: 'end', reason, unfinished: cut === undefined ? [] : calls });
    this.#over = true;
  }

  /** A complete answer doesn't fail any more. */
  #fail(reason: FailureReason, message: string): void {
    if (this.#over || this.#finish !== undefined) return;
    this.#events.push({ type: 'failure', reason, message: cutText(message, MAX_MESSAGE) });
    this.#over = true;
  }
}

const nonEmptyText = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

/** Returns the text in a text, in a part with one, or in a list of either. */
function plainText(value: unknown, levels = 3): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return levels === 0 ? '' : value.map((part) => plainText(part, levels - 1)).join('');
  return isObject(value) && typeof value['text'] === 'string' ? value['text'] : '';
}

/** Some servers send an empty error with each chunk. */
const isError = (value: unknown): value is string | JsonObject =>
  nonEmptyText(value) !== undefined || (isObject(value) && Object.values(value).some(Boolean));

/** The tokens that a server counts; undefined where nothing is counted: zeros are placeholders. */
function usageOf(usage: unknown): TokenUsage | undefined {
  if (!isObject(usage)) return undefined;
  const [input, completion, total] = [countOf(usage['prompt_tokens']), countOf(usage['completion_tokens']), countOf(usage['total_tokens'])];
  const cachedTokens = detailOf(usage['prompt_tokens_details'], 'cached_tokens');
  const reasoningTokens = detailOf(usage['completion_tokens_details'], 'reasoning_tokens');
  const inputTokens = input ?? Math.max(0, (total ?? 0) - (completion ?? 0));
  // Google and xAI count reasoning in the total alone.
  const reasonedOutside = (reasoningTokens ?? 0) > (completion ?? 0) ? reasoningTokens! : 0;
  const outputTokens = Math.max(completion ?? 0, total === undefined ? (completion ?? 0) + reasonedOutside : total - inputTokens);
  if (inputTokens + outputTokens === 0) return undefined;
  return { inputTokens, outputTokens, cachedTokens, reasoningTokens };
}

const countOf = (value: unknown): number | undefined => (Number.isSafeInteger(value) ? Math.max(0, value as number) : undefined);

const detailOf = (details: unknown, name: string): number | undefined => (isObject(details) ? countOf(details[name]) : undefined);
