/**
 * Server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html) whose data are JSON objects, wherever they are cut. Line ends may be
 * of any kind, and the blank lines between events may be missing: a line that is an object by itself is an event.
 */
import { parseJson } from '../../platform/json.ts';

export interface SseEvent {
  /** The event's data without spaces around them. */
  readonly data: string;
  /** The JSON object in the data; undefined where they are none. */
  readonly value: unknown;
  /** Name of the event, where it has one. */
  readonly event: string | undefined;
}

export class SseDecoder {
  /** The beginning of a line that hasn't ended. */
  #rest = '';
  #endedWithCr = false;
  #event: string | undefined;
  /** Lines of an event that are no object by themselves. */
  #open = '';

  /** Number of characters that are kept until more comes. */
  get length(): number {
    return this.#rest.length + this.#open.length;
  }

  push(text: string): readonly SseEvent[] {
    if (text === '') return [];
    // A line may end with CR LF, and the piece between the two.
    const lines = (this.#endedWithCr && text.startsWith('\n') ? text.slice(1) : text).split(/\r\n|\r|\n/);
    this.#endedWithCr = text.endsWith('\r');
    lines[0] = this.#rest + lines[0]!;
    this.#rest = lines.pop()!;
    return lines.flatMap((line) => this.#read(line));
  }

  /** Reads the last line, which need not have an end. @returns the events without one that is incomplete */
  end(): readonly SseEvent[] {
    const events = [...this.#read(this.#rest), ...this.#endEvent()];
    this.#rest = '';
    return events.filter(({ data, value }) => value !== undefined || !data.startsWith('{'));
  }

  #read(line: string): readonly SseEvent[] {
    if (line === '') return this.#endEvent();
    const [, field, text = ''] = /^(data|event|error)(?:: ?(.*))?$/s.exec(line) ?? [];
    const data = text.trim();
    if (field === 'event') this.#event = text;
    // llama.cpp has a field for it.
    if (field === 'error') return [{ data, value: undefined, event: 'error' }];
    if (field !== 'data') return [];
    if (data === '[DONE]') return [...this.#endEvent(), { data, value: undefined, event: undefined }];
    const value = data.startsWith('{') ? parseJson(data) : undefined;
    if (value !== undefined || !(data.startsWith('{') || this.#open !== '')) return [{ data, value, event: this.#event }];
    this.#open += `${data}\n`;
    return [];
  }

  #endEvent(): readonly SseEvent[] {
    const data = this.#open.trim();
    const event = this.#event;
    this.#open = '';
    this.#event = undefined;
    return data === '' ? [] : [{ data, value: parseJson(data), event }];
  }
}
