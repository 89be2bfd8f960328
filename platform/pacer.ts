import { systemClock, type Clock } from './clock.ts';

/** Longest time a loop runs before other work gets its turn, in milliseconds. */
const SLICE_MS = 2;

/** All loops of a process share its event loop: in each of its turns, one of the loops that pause goes on. */
let lastTurn = Promise.resolve();

/** Resolves after timers, I/O and other callbacks have run, for one caller at a time. */
export function nextTurn(): Promise<void> {
  lastTurn = lastTurn.then(() => new Promise((resolve) => setImmediate(resolve)));
  return lastTurn;
}

/** Hands items on in slices: a loop that only awaits resolved promises never lets the event loop go round. */
export async function* paced<T>(items: AsyncIterable<T> | Iterable<T>): AsyncGenerator<T> {
  const pacer = new Pacer();
  for await (const item of items) {
    if (pacer.due) await pacer.pause();
    yield item;
  }
}

/** Breaks a long loop into slices, so that 10,000 objects in a row don't hold the event loop. */
export class Pacer {
  readonly #clock: Pick<Clock, 'monotonic'>;
  #sliceStart: number;

  /** @param clock the process's own by default: the loops guard the real event loop, also where other times are injected */
  constructor(clock: Pick<Clock, 'monotonic'> = systemClock) {
    this.#clock = clock;
    this.#sliceStart = clock.monotonic();
  }

  /** True when this slice is used up: then `await pacer.pause()`. The two are apart so that the common case costs no promise. */
  get due(): boolean {
    return this.#clock.monotonic() - this.#sliceStart > SLICE_MS;
  }

  /** Lets everything else run, then begins a new slice. */
  async pause(): Promise<void> {
    await nextTurn();
    this.#sliceStart = this.#clock.monotonic();
  }
}
