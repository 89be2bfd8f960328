/** Decides whose turn it is, from the states that the agent reports. */
import type { Clock } from '../../platform/clock.ts';

/** Shortest pause of an agent that ends its turn, in milliseconds: one that listens may go on at once. */
const SETTLED_MS = 700;
/** Shortest pause of an agent that doesn't say when its welcome message is over, such as another platform's, in milliseconds. */
const UNWELCOMED_MS = 10_000;

export class TurnTaking {
  readonly #clock: Clock;
  #state: string | undefined;
  #since: number | undefined;
  #welcomed = false;
  readonly #watchers = new Set<() => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Notes that the agent can be heard. */
  arrived(): void {
    if (this.#since !== undefined) return;
    this.#since = this.#clock.monotonic();
    for (const look of this.#watchers) look();
  }

  /** Notes that the agent has said its welcome message, or has none. */
  welcomed(): void {
    if (this.#welcomed) return;
    this.#welcomed = true;
    for (const look of this.#watchers) look();
  }

  /** Notes a state that the agent has reported. */
  reported(state: string): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#since = this.#clock.monotonic();
    for (const look of this.#watchers) look();
  }

  /** Waits until the agent has begun to answer. @returns false when it hasn't within `withinMs`, or the signal aborts */
  async answering(withinMs: number, signal: AbortSignal): Promise<boolean> {
    return this.#until(() => (this.#state === 'thinking' || this.#state === 'speaking' ? 0 : undefined), withinMs, signal);
  }

  /** Waits until the agent has nothing more to say for now. @returns false when it has after `withinMs`, or the signal aborts */
  async usersTurn(withinMs: number, signal: AbortSignal): Promise<boolean> {
    return this.#until(() => this.#untilUsersTurn(), withinMs, signal);
  }

  #untilUsersTurn(): number | undefined {
    if (this.#since === undefined || (this.#state !== undefined && this.#state !== 'listening')) return undefined;
    return this.#since + (this.#welcomed ? SETTLED_MS : UNWELCOMED_MS) - this.#clock.monotonic();
  }

  /** Waits until a state has lasted. @param waitMs how long it still has to last to count; undefined for one that doesn't */
  #until(waitMs: () => number | undefined, withinMs: number, signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      let settling: { cancel(): void } | undefined;
      const finish = (reached: boolean): void => {
        settling?.cancel();
        limit.cancel();
        this.#watchers.delete(look);
        signal.removeEventListener('abort', aborted);
        resolve(reached);
      };
      const look = (): void => {
        settling?.cancel();
        const wait = waitMs();
        if (wait === undefined) return;
        if (wait <= 0) finish(true);
        else settling = this.#clock.after(wait, look);
      };
      const aborted = (): void => finish(false);
      const limit = this.#clock.after(withinMs, () => finish(false));
      signal.addEventListener('abort', aborted, { once: true });
      this.#watchers.add(look);
      if (signal.aborted) finish(false);
      else look();
    });
  }
}
