import type { Clock, Timer } from '../platform/clock.ts';
import { KubeError } from './error.ts';

export interface DeadlineOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  /** Names the awaited thing in the error. */
  readonly what: string;
}

/** Joins a request's timeout with its caller's signal, and remembers which of the two ended it. */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #options: DeadlineOptions;
  readonly #timer: Timer;
  readonly #ends: number;
  readonly #onAbort = (): void => this.abort();
  #error: KubeError | undefined;

  constructor(options: DeadlineOptions) {
    this.#options = options;
    this.#ends = options.clock.monotonic() + options.timeoutMs;
    this.#timer = options.clock.after(options.timeoutMs, () => {
      this.#end(new KubeError({ code: 0, reason: 'Timeout', message: `${options.what} took longer than ${options.timeoutMs} ms` }));
    });
    if (options.signal?.aborted) this.abort();
    else options.signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get error(): KubeError | undefined {
    return this.#error;
  }

  get expired(): boolean {
    return this.#error !== undefined;
  }

  get leftMs(): number {
    return this.#ends - this.#options.clock.monotonic();
  }

  /** Ends it now, as the caller's signal does. */
  abort(): void {
    this.#end(
      new KubeError({ code: 0, reason: 'Aborted', message: `${this.#options.what} was aborted`, cause: this.#options.signal?.reason }),
    );
  }

  /** Stops the timeout; the signal goes on counting. */
  disarm(): void {
    this.#timer.cancel();
  }

  /** Call it when the request is over, however it went. */
  clear(): void {
    this.#timer.cancel();
    this.#options.signal?.removeEventListener('abort', this.#onAbort);
  }

  #end(error: KubeError): void {
    if (this.#error !== undefined) return;
    this.#error = error;
    this.clear();
    this.#controller.abort(error);
  }
}
