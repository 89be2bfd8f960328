/** Wakes a loop that sleeps until there is something to do, or some time has passed. */
import type { Clock } from './clock.ts';

export class Wake {
  readonly #clock: Clock;
  #called = false;
  #resolve: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Says that there is something to do. Calls before the loop sleeps aren't lost, and many are as good as one. */
  call(): void {
    this.#called = true;
    this.#resolve?.();
  }

  /** Resolves at the next call, at once if there was one since the last time, or after `ms`. */
  async wait(ms: number): Promise<void> {
    if (!this.#called && ms > 0) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#resolve = resolve;
      const timer = this.#clock.after(ms, resolve);
      await promise;
      timer.cancel();
      this.#resolve = undefined;
    }
    this.#called = false;
  }
}
