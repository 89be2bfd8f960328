/**
 * Tells when nobody has said anything for too long.
 *
 *   quiet: neither the user nor the agent speaks, and nothing that the user waits for is under way
 *   each time it becomes quiet, the time begins anew; while it isn't, no time passes
 */
import type { Clock, Timer } from '../../platform/clock.ts';

export interface SilenceTimerOptions {
  readonly clock: Clock;
  /** In milliseconds. */
  readonly afterMs: number;
  readonly onSilence: () => void;
}

export class SilenceTimer {
  readonly #options: SilenceTimerOptions;
  #running = false;
  #user = false;
  #agent = false;
  #holds = 0;
  #timer: Timer | undefined;

  constructor(options: SilenceTimerOptions) {
    this.#options = options;
  }

  /** From now on silence counts. */
  start(): void {
    if (this.#running) return;
    this.#running = true;
    this.#restart();
  }

  stop(): void {
    this.#running = false;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** @param agoMs since when it is so, where that is found out late, in milliseconds */
  userSpeaks(speaks: boolean, agoMs = 0): void {
    if (this.#user === speaks) return;
    this.#user = speaks;
    this.#restart(agoMs);
  }

  /** Speaks, or thinks of what to say. */
  agentIsBusy(busy: boolean): void {
    if (this.#agent === busy) return;
    this.#agent = busy;
    this.#restart();
  }

  /** Something was said, however short it was. */
  heard(): void {
    this.#restart();
  }

  /** The user waits for something, such as the answer of a tool. @returns ends it; once is enough */
  hold(): () => void {
    let held = true;
    this.#holds += 1;
    this.#restart();
    return () => {
      if (!held) return;
      held = false;
      this.#holds -= 1;
      this.#restart();
    };
  }

  #restart(agoMs = 0): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    if (!this.#running || this.#user || this.#agent || this.#holds > 0) return;
    const { clock, afterMs, onSilence } = this.#options;
    this.#timer = clock.after(Math.max(0, afterMs - agoMs), () => {
      this.stop();
      onSilence();
    });
  }
}
