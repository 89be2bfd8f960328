/** An answer of a chat completion, as a server sent it and as a replay sends it again. */
import { isObject, parseJson } from '../../platform/json.ts';
import type { OptionalParameter, ProviderError } from '../../calls/provider-access/index.ts';
import { ModelStreamReader, SseDecoder, type ModelEvent } from '../../calls/model-stream/index.ts';

interface ToolCallShown {
  readonly name: string;
  readonly arguments: string;
}

export interface RecordedAnswer {
  /** Of what follows, for people. */
  readonly text?: string;
  readonly toolCalls?: readonly ToolCallShown[];
  /** The data of each event. */
  readonly stream?: readonly string[];
  /** Of an answer that wasn't streamed: JSON. */
  readonly body?: string;
  /** There is none: the server refused the request, failed, or was given up. Another form of the request, or another model, may have been answered. */
  readonly failed?: RecordedFailure;
}

export interface RecordedFailure extends Pick<ProviderError, 'kind' | 'status'> {
  readonly tooLong?: true;
  /** What the refusal names. */
  readonly parameters?: readonly OptionalParameter[];
}

/** They differ with each answer, and nobody reads them. */
const NOISE: ReadonlySet<string> = new Set(['created', 'system_fingerprint', 'service_tier', 'obfuscation']);

/** Takes the bytes of an answer as they come. */
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

  /** As far as it has come: a replay breaks off there. */
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

/** As a server that speaks OpenAI's protocol answers. */
export function replayAnswer(answer: RecordedAnswer): Response {
  if (answer.body !== undefined) return new Response(answer.body, { headers: { 'content-type': 'application/json' } });
  const events = (answer.stream ?? []).map((data) => `data: ${data.replaceAll('\n', '\ndata: ')}\n\n`);
  return new Response(events.join(''), { headers: { 'content-type': 'text/event-stream' } });
}

function withoutNoise(data: string): string {
  const value = parseJson(data);
  return isObject(value) ? JSON.stringify(Object.fromEntries(Object.entries(value).filter(([name]) => !NOISE.has(name)))) : data;
}
