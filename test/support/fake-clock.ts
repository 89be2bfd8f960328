import type { Clock, Timer } from '../../platform/clock.ts';

interface Pending {
  readonly dueAt: number;
  readonly order: number;
  readonly callback: () => void;
}

/**
 * A clock that stands still until a test moves it.
 *
 * Timers fire in the order of their due time, then of their creation, and each sees the time it was due at.
 * Wall-clock and monotonic time move together, except through {@link FakeClock.jump}.
 */
export class FakeClock implements Clock {
  readonly #pending = new Set<Pending>();
  #monotonic = 0;
  #offset: number;
  #order = 0;

  /** `now` is the wall-clock time to begin at, in milliseconds since the Unix epoch. */
  constructor(options: { readonly now?: number } = {}) {
    this.#offset = options.now ?? Date.UTC(2026, 0, 1);
  }

  now(): number {
    return this.#offset + this.#monotonic;
  }

  monotonic(): number {
    return this.#monotonic;
  }

  after(ms: number, callback: () => void): Timer {
    const entry: Pending = { dueAt: this.#monotonic + Math.max(0, ms), order: this.#order++, callback };
    this.#pending.add(entry);
    return { cancel: () => void this.#pending.delete(entry) };
  }

  /** Number of timers that wait. */
  get timers(): number {
    return this.#pending.size;
  }

  /** Milliseconds until the next timer is due; `undefined` when none waits. */
  get nextIn(): number | undefined {
    const next = this.#next();
    return next && next.dueAt - this.#monotonic;
  }

  /** Moves the wall clock alone, as an administrator or NTP does; timers and durations don't notice. */
  jump(ms: number): void {
    this.#offset += ms;
  }

  /** Moves the time by `ms` and fires nothing, as in a process that stands still: what is due fires late, with the next move. */
  stall(ms: number): void {
    this.#monotonic += ms;
  }

  /** Moves the time by `ms` and fires what is due, synchronously: promises settle only afterwards. */
  tick(ms: number): void {
    const until = this.#monotonic + ms;
    while (this.#fireNext(until));
    this.#monotonic = until;
  }

  /** Moves the time by `ms`; after each timer, and at both ends, waits until the promises in flight have settled. */
  async advance(ms: number): Promise<void> {
    const until = this.#monotonic + ms;
    await settle();
    while (this.#fireNext(until)) await settle();
    this.#monotonic = until;
    await settle();
  }

  /** Advances in steps of `stepMs` until `condition` holds. @throws Error when it still doesn't after `limitMs` of fake time. */
  async advanceUntil(condition: () => boolean, options: { readonly stepMs?: number; readonly limitMs?: number } = {}): Promise<void> {
    const { stepMs = 100, limitMs = 3_600_000 } = options;
    const limit = this.#monotonic + limitMs;
    await settle();
    while (!condition()) {
      if (this.#monotonic >= limit) throw new Error(`the condition did not hold within ${limitMs} ms of fake time`);
      await this.advance(stepMs);
    }
  }

  #next(): Pending | undefined {
    let next: Pending | undefined;
    for (const entry of this.#pending) {
      if (!next || entry.dueAt < next.dueAt || (entry.dueAt === next.dueAt && entry.order < next.order)) next = entry;
    }
    return next;
  }

  #fireNext(until: number): boolean {
    const next = this.#next();
    if (!next || next.dueAt > until) return false;
    this.#pending.delete(next);
    this.#monotonic = Math.max(this.#monotonic, next.dueAt);
    next.callback();
    return true;
  }
}

/** Waits until promise reactions have run dry: several turns of the event loop, so that chains over immediates settle too. */
export async function settle(turns = 4): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
}
