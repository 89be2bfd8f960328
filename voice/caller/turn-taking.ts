/** Whose turn it is, from the states that the agent reports. */
import type { Clock } from '../../platform/clock.ts';

/** An agent that listens may go on at once: a pause has to be this long, in milliseconds. */
const SETTLED_MS = 700;
/** The same for an agent that doesn't say when its welcome message is over, another platform's for one. */
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

  /** The agent can be heard. */
  arrived(): void {
    if (this.#since !== undefined) return;
    this.#since = this.#clock.monotonic();
    for (const look of this.#watchers) look();
  }

  /** The agent has said its welcome message, or has none. */
  welcomed(): void {
    if (this.#welcomed) return;
    this.#welcomed = true;
    for (const look of this.#watchers) look();
  }

  /** The agent has reported a state. */
  reported(state: string): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#since = this.#clock.monotonic();
    for (const look of this.#watchers) look();
  }

  /** The agent has begun to answer. @returns false when it hasn't within `withinMs`, or the signal aborts */
  async answering(withinMs: number, signal: AbortSignal): Promise<boolean> {
    return this.#until(() => (this.#state === 'thinking' || this.#state === 'speaking' ? 0 : undefined), withinMs, signal);
  }

  /** The agent has nothing more to say for now. @returns false when it has after `withinMs`, or the signal aborts */
  async usersTurn(withinMs: number, signal: AbortSignal): Promise<boolean> {
    return this.#until(() => this.#untilUsersTurn(), withinMs, signal);
  }

  #untilUsersTurn(): number | undefined {
    if (this.#since === undefined || (this.#state !== undefined && this.#state !== 'listening')) return undefined;
    return this.#since + (this.#welcomed ? SETTLED_MS : UNWELCOMED_MS) - this.#clock.monotonic();
  }

  /** @param waitMs how long the state has to last for it to count; undefined for one that doesn't */
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
