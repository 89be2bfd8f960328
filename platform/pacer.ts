import { systemClock, type Clock } from './clock.ts';

/** Longest time a loop runs before other work gets its turn, in milliseconds. */
const SLICE_MS = 10;

/** Breaks a long loop into slices, so that 10,000 objects in a row don't hold the event loop. */
export class Pacer {
  readonly #clock: Pick<Clock, 'monotonic'>;
  #sliceStart: number;

  /** @param clock that of the process by default: what the loops guard is the real event loop, also where other times are injected */
  constructor(clock: Pick<Clock, 'monotonic'> = systemClock) {
    this.#clock = clock;
    this.#sliceStart = clock.monotonic();
  }

  /** Whether this slice is used up: then `await pacer.pause()`. Split in two so that the common case costs no promise. */
  get due(): boolean {
    return this.#clock.monotonic() - this.#sliceStart > SLICE_MS;
  }

  /** Lets timers, I/O and other callbacks run, then begins a new slice. */
  async pause(): Promise<void> {
    await new Promise<void>((resolve) => setImmediate(resolve));
    this.#sliceStart = this.#clock.monotonic();
  }
}
