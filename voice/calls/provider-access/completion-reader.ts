/** What a completion of OpenAI's protocol says of itself: its id, model, finish reason and tokens, and its words where they are wanted. */
import { parseJson } from '../../../platform/json.ts';
import { textPart, messagesText } from '../../../platform/telemetry/gen-ai/content.ts';
import { OUTPUT_MESSAGES } from '../../../platform/telemetry/gen-ai/conventions.ts';
import type { ModelAnswer, TokenUsage } from '../../../platform/telemetry/gen-ai/model-requests.ts';

interface Completion {
  readonly id?: unknown;
  readonly model?: unknown;
  readonly choices?: readonly Choice[] | null;
  readonly usage?: Usage | null;
}
interface Choice {
  readonly finish_reason?: unknown;
  readonly message?: Said | null;
  readonly delta?: Said | null;
}
interface Said {
  readonly content?: unknown;
  readonly tool_calls?: readonly ToolCall[] | null;
}
interface ToolCall {
  readonly index?: number;
  readonly id?: unknown;
  readonly function?: { readonly name?: unknown; readonly arguments?: unknown };
}
interface Usage {
  readonly prompt_tokens?: unknown;
  readonly completion_tokens?: unknown;
  readonly prompt_tokens_details?: { readonly cached_tokens?: unknown } | null;
  readonly completion_tokens_details?: { readonly reasoning_tokens?: unknown } | null;
}

/** Of a line that has not ended, in characters: what is longer says nothing that is looked for. */
const MAX_LINE = 64 * 1024;
/** Of an answer whose words are kept. */
const MAX_WORDS = 64 * 1024;
/** Of an answer, in characters: the end of a longer one has its usage all the same. */
const MAX_TEXT = 1_000_000;
/** The events that say more than words. */
const TELLING = /"finish_reason" ?: ?"|"usage" ?: ?\{/;

export class CompletionReader {
  readonly #keepsWords: boolean;
  #text = '';
  #rest = '';
  #id: string | undefined;
  #model: string | undefined;
  #finishReason: string | undefined;
  #usage: TokenUsage | undefined;
  #words = '';
  readonly #toolCalls: { id: string; name: string; arguments: string }[] = [];

  /** @param options.keepsWords for spans with content */
  constructor({ keepsWords }: { readonly keepsWords: boolean }) {
    this.#keepsWords = keepsWords;
  }

  /** A piece of a stream of events, as it comes. Most events are words, and are parsed only where those are kept. */
  push(piece: string): void {
    this.#keepText(piece);
    this.#readLines(piece);
  }

  #readLines(piece: string): void {
    const lines = (this.#rest + piece).split('\n');
    this.#rest = lines.pop() ?? '';
    if (this.#rest.length > MAX_LINE) this.#rest = '';
    for (const line of lines) {
      if (line.startsWith('data:') && (this.#model === undefined || this.#keepsWords || TELLING.test(line))) this.#read(line.slice(5));
    }
  }

  /** One JSON object. What is none is left to those who read the answer. */
  read(json: string): void {
    this.#keepText(json);
    this.#read(json);
  }

  #keepText(piece: string): void {
    this.#text = (this.#text + piece).slice(-MAX_TEXT);
  }

  #read(json: string): void {
    const completion = parseJson(json) as Completion | null | undefined;
    if (typeof completion !== 'object' || completion === null) return;
    this.#id ??= textOf(completion.id);
    this.#model ??= textOf(completion.model);
    this.#usage = usageOf(completion.usage) ?? this.#usage;
    const [choice] = completion.choices ?? [];
    this.#finishReason = textOf(choice?.finish_reason) ?? this.#finishReason;
    if (this.#keepsWords) this.#keep(choice?.message ?? choice?.delta ?? {});
  }

  get answer(): ModelAnswer {
    // The last event may end without a line break.
    if (this.#rest !== '') this.#readLines('\n');
    return {
      id: this.#id,
      model: this.#model,
      finishReasons: this.#finishReason === undefined ? undefined : [this.#finishReason],
      usage: this.#usage,
      text: this.#text,
      ...(this.#keepsWords && { attributes: { [OUTPUT_MESSAGES]: this.#messages() } }),
    };
  }

  #keep({ content, tool_calls: toolCalls }: Said): void {
    if (typeof content === 'string') this.#words = (this.#words + content).slice(0, MAX_WORDS);
    for (const { index = 0, id, function: called } of toolCalls ?? []) {
      const kept = (this.#toolCalls[index] ??= { id: '', name: '', arguments: '' });
      kept.id ||= textOf(id) ?? '';
      kept.name ||= textOf(called?.name) ?? '';
      kept.arguments = (kept.arguments + (textOf(called?.arguments) ?? '')).slice(0, MAX_WORDS);
    }
  }

  #messages(): string {
    const toolCalls = this.#toolCalls
      .filter((call) => call !== undefined)
      .map(({ id, name, arguments: given }) => ({ type: 'tool_call', id, name, arguments: parseJson(given, given) }));
    const parts = [...(this.#words === '' ? [] : [textPart(this.#words)]), ...toolCalls];
    // Their word for it is singular.
    const reason = this.#finishReason === 'tool_calls' ? 'tool_call' : this.#finishReason;
    return messagesText([{ role: 'assistant', parts, finish_reason: reason ?? '' }]);
  }
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);
const countOf = (value: unknown): number | undefined => (Number.isSafeInteger(value) ? (value as number) : undefined);

function usageOf(usage: Usage | null | undefined): TokenUsage | undefined {
  const [inputTokens, outputTokens] = [countOf(usage?.prompt_tokens), countOf(usage?.completion_tokens)];
  if (inputTokens === undefined && outputTokens === undefined) return undefined;
  return {
    inputTokens: inputTokens ?? 0,
    outputTokens: outputTokens ?? 0,
    cachedTokens: countOf(usage?.prompt_tokens_details?.cached_tokens),
    reasoningTokens: countOf(usage?.completion_tokens_details?.reasoning_tokens),
  };
}
