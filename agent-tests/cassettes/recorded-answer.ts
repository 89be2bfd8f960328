/** An answer of a chat completion, as the server sent it and as a replay sends it again. */
import { isObject, parseJson } from '../../platform/json.ts';
import type { OptionalParameter, ProviderError } from '../../calls/provider-access/index.ts';
import { ModelStreamReader, SseDecoder, type ModelEvent } from '../../calls/model-stream/index.ts';

interface ToolCallShown {
  readonly name: string;
  readonly arguments: string;
}

export interface RecordedAnswer {
  /** The text of the answer below, for people who read the file. */
  readonly text?: string;
  readonly toolCalls?: readonly ToolCallShown[];
  /** The data of each event of a streamed answer. */
  readonly stream?: readonly string[];
  /** JSON of an answer that wasn't streamed. */
  readonly body?: string;
  /**
   * Set where there is no answer: the server refused the request, failed, or was given up. Another form of the request, or another model,
   * may have been answered.
   */
  readonly failed?: RecordedFailure;
}

export interface RecordedFailure extends Pick<ProviderError, 'kind' | 'status'> {
  readonly tooLong?: true;
  readonly parameters?: readonly OptionalParameter[];
}

/** Fields that differ with each answer and that nobody reads. */
const NOISE: ReadonlySet<string> = new Set(['created', 'system_fingerprint', 'service_tier', 'obfuscation']);

/** Collects the bytes of an answer as they come. */
export class AnswerRecording {
  readonly #decoder = new TextDecoder();
  readonly #sse = new SseDecoder();
  readonly #reader = new ModelStreamReader();
  readonly #events: ModelEvent[] = [];
  readonly #stream: string[] = [];
  #body = '';

  push(bytes: Uint8Array): void {
    const text = this.#decoder.decode(bytes, { stream: true });
    this.#body += text;
    for (const { data } of this.#sse.push(text)) this.#stream.push(withoutNoise(data));
    this.#events.push(...this.#reader.push(bytes));
  }

  end(): void {
    for (const { data } of this.#sse.end()) this.#stream.push(withoutNoise(data));
    this.#events.push(...this.#reader.end());
  }

  get isComplete(): boolean {
    return this.#events.at(-1)?.type === 'end';
  }

  /** The answer so far; a replay breaks off where it ends. */
  get answer(): RecordedAnswer {
    const afterRetracted = this.#events.slice(this.#events.findLastIndex(({ type }) => type === 'retract') + 1);
    const text = afterRetracted.map((event) => (event.type === 'text' ? event.text : '')).join('');
    const calls = this.#events.flatMap((event) => (event.type === 'call' ? [event.call] : []));
    return {
      ...(text !== '' && { text }),
      ...(calls.length > 0 && { toolCalls: calls.map(({ name, arguments: args }) => ({ name, arguments: args })) }),
      ...(this.#stream.length > 0 ? { stream: [...this.#stream] } : { body: withoutNoise(this.#body) }),
    };
  }
}

/** Builds the response of a server that speaks OpenAI's protocol. */
export function replayAnswer(answer: RecordedAnswer): Response {
  if (answer.body !== undefined) return new Response(answer.body, { headers: { 'content-type': 'application/json' } });
  const events = (answer.stream ?? []).map((data) => `data: ${data.replaceAll('\n', '\ndata: ')}\n\n`);
  return new Response(events.join(''), { headers: { 'content-type': 'text/event-stream' } });
}

function withoutNoise(data: string): string {
  const value = parseJson(data);
  return isObject(value) ? JSON.stringify(Object.fromEntries(Object.entries(value).filter(([name]) => !NOISE.has(name)))) : data;
}
