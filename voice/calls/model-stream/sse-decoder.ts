/** Server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html), whatever their line ends are and wherever they are cut. */

export type SseLine =
  /** @param event the name of the event, where it has one */
  { readonly type: 'data'; readonly data: string; readonly event: string | undefined } | { readonly type: 'event_end' };

export class SseDecoder {
  /** The beginning of a line that hasn't ended. */
  #rest = '';
  #endedWithCr = false;
  #event: string | undefined;

  get restLength(): number {
    return this.#rest.length;
  }

  push(text: string): readonly SseLine[] {
    if (text === '') return [];
    // A line may end with CR LF, and the piece between the two.
    const lines = (this.#endedWithCr && text.startsWith('\n') ? text.slice(1) : text).split(/\r\n|\r|\n/);
    this.#endedWithCr = text.endsWith('\r');
    lines[0] = this.#rest + lines[0]!;
    this.#rest = lines.pop()!;
    return lines.flatMap((line) => this.#read(line));
  }

  /** The last line need not have an end. */
  end(): readonly SseLine[] {
    const line = this.#rest;
    this.#rest = '';
    return line === '' ? [] : this.#read(line);
  }

  #read(line: string): readonly SseLine[] {
    if (line === '') {
      this.#event = undefined;
      return [{ type: 'event_end' }];
    }
    const [, field, value = ''] = /^(data|event)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (field === 'event') this.#event = value;
    return field === 'data' ? [{ type: 'data', data: value, event: this.#event }] : [];
  }
}
