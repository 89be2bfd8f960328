/** Speaks one answer on the WebSocket, sentence by sentence. */
import type { ReadableStreamDefaultController } from 'node:stream/web';

import type { Clock, Timer } from '../../../../platform/clock.ts';
import {
  toCallFailure,
  failuresOf,
  HEAD_TIMEOUT_MS,
  STALL_TIMEOUT_MS,
  type Failures,
  type ProviderError,
} from '../../../../calls/provider-access/index.ts';
import type { TtsContext, TtsStreamEvent } from './protocol.ts';

export interface SpeechContextOptions {
  readonly provider: string;
  readonly protocol: TtsContext;
  readonly idleMs: number;
  /** True if the provider says when it has closed a context. */
  readonly confirmsClose: boolean;
  readonly send: (messages: readonly string[]) => void;
  /** Called when the provider is silent: the connection is of no use. */
  readonly onSilence: (failure: ProviderError) => void;
  /** Called when nothing more comes in the context. */
  readonly onClose: () => void;
  readonly clock: Clock;
}

/** A pause in the sound that is the end of a sentence where no message says so, in milliseconds: less than makes a voice late. */
const PAUSE_MS = 700;

export class SpeechContext {
  readonly #options: SpeechContextOptions;
  readonly #failures: Failures;
  /** Sound of the sentence that is being said. */
  #sound: ReadableStreamDefaultController<Uint8Array> | undefined;
  /** Sound that came after a sentence was taken for said: it is heard with the next. */
  #late: Uint8Array[] = [];
  #takesMore = true;
  #usedAt = 0;
  #timer: Timer | undefined;

  constructor(options: SpeechContextOptions) {
    this.#options = options;
    this.#failures = failuresOf({ part: 'tts', provider: options.provider });
  }

  /** True if another sentence can be said in it. */
  get open(): boolean {
    const { clock, idleMs } = this.#options;
    return this.#takesMore && clock.monotonic() - this.#usedAt < idleMs;
  }

  say(text: string): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#sound = controller;
        for (const late of this.#late.splice(0)) controller.enqueue(late);
        this.#options.send(this.#options.protocol.say(text));
        this.#wait(HEAD_TIMEOUT_MS, () => this.#options.onSilence(this.#failures.slow(HEAD_TIMEOUT_MS)));
      },
      cancel: (reason) => this.abandon(reason ?? new Error('no listener is left')),
    });
  }

  end(): void {
    if (!this.#takesMore) return;
    this.#takesMore = false;
    this.#options.send(this.#options.protocol.end());
    if (this.#sound === undefined) this.#closed({ confirmed: false });
  }

  /** Gives the context up: no listener is left. @param reason the failure of the sentence that is being said */
  abandon(reason: unknown): void {
    if (!this.#takesMore && this.#sound === undefined) return;
    this.#takesMore = false;
    this.#finish(reason);
    this.#options.send(this.#options.protocol.cancel());
    this.#closed({ confirmed: false });
  }

  receive(message: unknown): void {
    for (const event of this.#options.protocol.read(message)) this.#take(event);
  }

  /** Fails the context: the connection is lost, or the provider has given up the context. */
  fail(failure: unknown): void {
    this.#takesMore = false;
    this.#finish(failure);
    this.#closed({ confirmed: true });
  }

  #take(event: TtsStreamEvent): void {
    if (event.type === 'sound') return this.#hear(event.pcm);
    if (event.type === 'failed') {
      const { kind, message, ...more } = event;
      return this.fail(toCallFailure({ part: 'tts', provider: this.#options.provider }, kind, message, more));
    }
    this.#finish();
    if (event.type === 'closed') this.#takesMore = false;
    if (!this.#takesMore) this.#closed({ confirmed: event.type === 'closed' });
  }

  #closed({ confirmed }: { readonly confirmed: boolean }): void {
    if (confirmed || !this.#options.confirmsClose) this.#options.onClose();
  }

  #hear(pcm: Uint8Array): void {
    if (this.#sound === undefined) {
      if (this.#takesMore) this.#late.push(pcm);
      return;
    }
    this.#sound.enqueue(pcm);
    if (this.#options.protocol.mayBeSaid?.() === true) this.#wait(PAUSE_MS, () => this.#finish());
    else this.#wait(STALL_TIMEOUT_MS, () => this.#options.onSilence(this.#stalled()));
  }

  #wait(ms: number, callback: () => void): void {
    this.#timer?.cancel();
    this.#timer = this.#options.clock.after(ms, callback);
  }

  #stalled(): ProviderError {
    return this.#failures.broken(`nothing more came for ${STALL_TIMEOUT_MS} ms`, { slow: true });
  }

  /** Ends the sentence, which is said or has failed. */
  #finish(failure?: unknown): void {
    this.#timer?.cancel();
    this.#usedAt = this.#options.clock.monotonic();
    const sound = this.#sound;
    this.#sound = undefined;
    if (failure === undefined) sound?.close();
    else sound?.error(failure);
  }
}
