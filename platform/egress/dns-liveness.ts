/**
 * Distinguishes a name whose own servers are slow from resolvers of ours that are down: both look like a question without an
 * answer. Any answer meanwhile shows that they are up; while a query stays open for long, one is sent that every
 * server can answer.
 */
import { withTimeout, type Clock } from '../clock.ts';

/** Time for servers to send any answer, in milliseconds. */
const SILENCE_MS = 5_000;

export class DnsLiveness {
  readonly #clock: Clock;
  readonly #ask: () => Promise<unknown>;
  readonly #waiting = new Set<() => void>();
  #heardAt = -Infinity;
  /** When the last unanswered query was sent. */
  #unansweredAt = -Infinity;
  /** Resolves with an answer or without one. */
  #probe: Promise<void> | undefined;

  /** @param options.ask sends a query that is easy to answer; any answer is reported to {@link heard} */
  constructor(options: { readonly ask: () => Promise<unknown>; readonly clock: Clock }) {
    this.#clock = options.clock;
    this.#ask = options.ask;
  }

  /** Records that an answer has arrived, negative ones included. */
  heard(): void {
    this.#heardAt = this.#clock.monotonic();
    for (const resolve of this.#waiting) resolve();
  }

  /** Starts a probe unless one is under way. */
  probe(): void {
    this.#probe ??= this.#listen();
  }

  async #listen(): Promise<void> {
    const since = this.#clock.monotonic();
    await withTimeout(
      this.#clock,
      SILENCE_MS,
      this.#ask().catch(() => undefined),
    );
    this.#probe = undefined;
    if (this.#heardAt < since) this.#unansweredAt = since;
  }

  /**
   * Tells whether any server has answered since `moment`, on the monotonic clock. Resolves at once in most cases, after some seconds in
   * the worst.
   */
  async answeredSince(moment: number): Promise<boolean> {
    // A moment in the future has no answers.
    const since = Math.min(moment, this.#clock.monotonic());
    const { promise: heard, resolve } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    try {
      while (this.#heardAt < since && this.#unansweredAt < since) {
        this.probe();
        await Promise.race([heard, this.#probe]);
      }
      return this.#heardAt >= since;
    } finally {
      this.#waiting.delete(resolve);
    }
  }
}
