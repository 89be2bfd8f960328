import type { Clock, Timer } from '../../platform/clock.ts';

export interface KeyedThrottleOptions {
  readonly clock: Clock;
  /** Least time between two calls for one key, in milliseconds. */
  readonly everyMs: number;
  readonly emit: (key: string) => void;
}

/** Hands a key on at once, and then, however often it is told, once for each interval. The last telling is never lost. */
export class KeyedThrottle {
  readonly #options: KeyedThrottleOptions;
  readonly #quiet = new Map<string, { readonly timer: Timer; again: boolean }>();

  constructor(options: KeyedThrottleOptions) {
    this.#options = options;
  }

  tell(key: string): void {
    const known = this.#quiet.get(key);
    if (known === undefined) this.#emit(key);
    else known.again = true;
  }

  /** Drops what would be handed on later. */
  clear(): void {
    for (const { timer } of this.#quiet.values()) timer.cancel();
    this.#quiet.clear();
  }

  #emit(key: string): void {
    const { clock, everyMs, emit } = this.#options;
    this.#quiet.set(key, { timer: clock.after(everyMs, () => this.#over(key)), again: false });
    emit(key);
  }

  #over(key: string): void {
    const again = this.#quiet.get(key)?.again === true;
    this.#quiet.delete(key);
    if (again) this.#emit(key);
  }
}
