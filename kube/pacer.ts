/** Longest time a loop runs before other work gets its turn, in milliseconds. */
const SLICE_MS = 10;

/**
 * Breaks a long loop into slices, so that 10,000 objects in a row don't hold the event loop.
 *
 * It looks at the process's own timer, not at an injected clock: what it guards is the real event loop, also in tests.
 */
export class Pacer {
  #sliceStart = performance.now();

  /** Whether this slice is used up: then `await pacer.pause()`. Split in two so that the common case costs no promise. */
  get due(): boolean {
    return performance.now() - this.#sliceStart > SLICE_MS;
  }

  /** Lets timers, I/O and other callbacks run, then begins a new slice. */
  async pause(): Promise<void> {
    await new Promise<void>((resolve) => setImmediate(resolve));
    this.#sliceStart = performance.now();
  }
}
