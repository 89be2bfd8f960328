/** Writes Server-Sent Events to one client, and never waits for it. Source: https://html.spec.whatwg.org/multipage/server-sent-events.html */
import { PassThrough, type Readable } from 'node:stream';

import type { Clock } from '../../platform/clock.ts';
import type { CallEvent, ClosedReason } from './event-answers.ts';

/** Most bytes that wait for a client. */
export const MOST_WAITING = 256 * 1024;
/** Longest time for a client to take the last event, in milliseconds. */
const LINGER_MS = 5_000;
/** Time after which clients ask again by themselves, in milliseconds. */
const RETRY_MS = 2_000;

export class EventStream {
  readonly #stream = new PassThrough();
  readonly #over = new AbortController();
  readonly #clock: Pick<Clock, 'after'>;

  constructor({ clock }: { readonly clock: Pick<Clock, 'after'> }) {
    this.#clock = clock;
    this.#stream.on('close', () => this.#over.abort());
    this.#stream.on('error', () => this.#over.abort());
    this.#stream.write(`retry: ${RETRY_MS}\n\n`);
  }

  /** The body of the answer. */
  get body(): Readable {
    return this.#stream;
  }

  /** Aborts when nothing is sent any more: all is sent, or the client has left. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** Sends an event. A client that has not taken the ones before gets no more, and is told so. */
  send(event: CallEvent): void {
    if (this.#over.signal.aborted) return;
    if (this.#waiting > MOST_WAITING)
      return this.close('too_slow', `more than ${MOST_WAITING / 1024} KiB were not taken: read faster, and ask again with Last-Event-ID`);
    this.#stream.write(textOf(event));
  }

  /** Sends a comment, by which proxies and clients know that the connection lives. */
  beat(): void {
    if (!this.#over.signal.aborted && this.#waiting <= MOST_WAITING) this.#stream.write(': still here\n\n');
  }

  /** Ends the stream before its call is over. */
  close(reason: ClosedReason, message: string): void {
    this.end({ event: 'closed', data: { reason, message } });
  }

  /** Sends the last event, and ends the stream. */
  end(last: CallEvent): void {
    if (this.#over.signal.aborted) return;
    this.#stream.end(textOf(last));
    this.#over.abort();
    const timer = this.#clock.after(LINGER_MS, () => this.#stream.destroy());
    this.#stream.on('close', () => timer.cancel());
  }

  get #waiting(): number {
    return this.#stream.writableLength + this.#stream.readableLength;
  }
}

function textOf({ event, id, data }: CallEvent): string {
  return `event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;
}
