import type { Clock, Timer } from '../platform/clock.ts';

export interface SilenceWatchOptions {
  readonly clock: Clock;
  readonly limitMs: number;
  /** Called once. */
  readonly onSilent: () => void;
}

/**
 * Notices a connection on which nothing comes any more: one whose other end vanished without a word stays open for hours.
 * Only time spent listening counts: while the reader is busy, silence is its own.
 * Hearing something costs an assignment; the timer is set anew only when it fires.
 */
export class SilenceWatch {
  readonly #options: SilenceWatchOptions;
  #limitMs: number;
  #since: number;
  #listening = true;
  #timer: Timer;

  constructor(options: SilenceWatchOptions) {
    this.#options = options;
    this.#limitMs = options.limitMs;
    this.#since = options.clock.monotonic();
    this.#timer = this.#arm(options.limitMs);
  }

  heard(): void {
    this.#since = this.#options.clock.monotonic();
  }

  /** The reader waits for the next thing (`true`) or works on the last one. */
  set listening(listening: boolean) {
    this.#listening = listening;
    if (listening) this.heard();
  }

  get limitMs(): number {
    return this.#limitMs;
  }

  set limitMs(limitMs: number) {
    this.#limitMs = limitMs;
    this.#timer.cancel();
    this.#timer = this.#arm(this.#left());
  }

  stop(): void {
    this.#timer.cancel();
  }

  #left(): number {
    return this.#since + this.#limitMs - this.#options.clock.monotonic();
  }

  #arm(ms: number): Timer {
    return this.#options.clock.after(Math.max(0, ms), () => {
      const left = this.#listening ? this.#left() : this.#limitMs;
      if (left > 0) this.#timer = this.#arm(left);
      else this.#options.onSilent();
    });
  }
}
