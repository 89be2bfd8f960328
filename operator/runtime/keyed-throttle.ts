import type { Clock, Timer } from '../../platform/clock.ts';

export interface KeyedThrottleOptions {
  readonly clock: Clock;
  /** Least time between two calls for one key, in milliseconds. */
  readonly everyMs: (key: string) => number;
  readonly emit: (key: string) => void;
}

/** Emits a key at once, and then, however often it is added, once for each interval. What is added last is never lost. */
export class KeyedThrottle {
  readonly #options: KeyedThrottleOptions;
  readonly #throttled = new Map<string, { readonly timer: Timer; again: boolean }>();

  constructor(options: KeyedThrottleOptions) {
    this.#options = options;
  }

  add(key: string): void {
    const known = this.#throttled.get(key);
    if (known === undefined) this.#emit(key);
    else known.again = true;
  }

  /** Drops what would be emitted later. */
  clear(): void {
    for (const { timer } of this.#throttled.values()) timer.cancel();
    this.#throttled.clear();
  }

  #emit(key: string): void {
    const { clock, everyMs, emit } = this.#options;
    this.#throttled.set(key, { timer: clock.after(everyMs(key), () => this.#over(key)), again: false });
    emit(key);
  }

  #over(key: string): void {
    const again = this.#throttled.get(key)?.again === true;
    this.#throttled.delete(key);
    if (again) this.#emit(key);
  }
}
