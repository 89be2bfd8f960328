/** Estimates how fast things get done, and how long the rest will take. Pure: times are passed in, in milliseconds. */

/** Longest time that counts, in milliseconds: what is further back says nothing about now. */
const WINDOW_MS = 15_000;
/** Shortest time that makes a rate, in milliseconds: before that it is a guess. */
const LEAST_MS = 1_000;

export class Pace {
  /** Marks, the oldest first: one from before the window, and those in it. */
  #marks: readonly { readonly at: number; readonly done: number }[];

  constructor(now: number) {
    this.#marks = [{ at: now, done: 0 }];
  }

  reached(done: number, now: number): void {
    const marks = [...this.#marks, { at: now, done }];
    const first = marks.findLastIndex(({ at }) => at <= now - WINDOW_MS);
    this.#marks = marks.slice(Math.max(0, first));
  }

  /** Formats `21/s, 1 min 4 s left`; empty while it is unknown. */
  text(total: number): string {
    const [first, last] = [this.#marks[0], this.#marks.at(-1)];
    if (first === undefined || last === undefined || last.at - first.at < LEAST_MS || last.done === first.done) return '';
    const perSecond = ((last.done - first.done) * 1_000) / (last.at - first.at);
    const rate = perSecond < 10 ? perSecond.toFixed(1) : String(Math.round(perSecond));
    return last.done >= total ? `${rate}/s` : `${rate}/s, ${duration((total - last.done) / perSecond)} left`;
  }
}

/** Formats `45 s`, `2 min 5 s`, `3 h 12 min`. */
function duration(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  return minutes < 60 ? `${minutes} min ${whole % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
