/**
 * Ends a call in which neither side has said anything for too long, and asks once before.
 *
 *   quiet: neither the user nor the agent speaks, and nothing that the user waits for is under way
 *   each time it becomes quiet, a new silence begins; while it isn't, no time passes
 *   half of the time into a silence the reminder is said: it takes no time from the silence and begins no other, so that the user has the other half to answer
 */
import type { Clock, Timer } from '../../platform/clock.ts';

export interface SilenceTimerOptions {
  readonly clock: Clock;
  /** In milliseconds. */
  readonly afterMs: number;
  /** Asks whether the user is still there. Resolves when that is said; absent where nothing is asked. */
  readonly remind?: (() => Promise<void>) | undefined;
  readonly onSilence: () => void;
}

export class SilenceTimer {
  readonly #options: SilenceTimerOptions;
  #running = false;
  #user = false;
  #agent = false;
  #holds = 0;
  #timer: Timer | undefined;
  /** Of this silence, from when it is asked for until the agent has said it. */
  #reminder: { said: boolean } | undefined;

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
    this.#reminder = undefined;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** @param agoMs how long ago it changed, in milliseconds: detection is late */
  userSpeaks(speaks: boolean, agoMs = 0): void {
    if (this.#user === speaks) return;
    this.#user = speaks;
    this.#restart(agoMs);
  }

  /** Speaks, or thinks of what to say. */
  agentIsBusy(busy: boolean): void {
    if (this.#agent === busy) return;
    this.#agent = busy;
    if (this.#reminder === undefined) this.#restart();
    else this.#goOn(this.#reminder);
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
    this.#reminder = undefined;
    const { afterMs, remind } = this.#options;
    if (remind === undefined) this.#wait(afterMs - agoMs, () => this.#end());
    else this.#wait(afterMs / 2 - agoMs, () => this.#remind(remind));
  }

  #remind(remind: () => Promise<void>): void {
    const reminder = { said: false };
    this.#reminder = reminder;
    const said = (): void => {
      reminder.said = true;
      this.#goOn(reminder);
    };
    remind().then(said, said);
  }

  /** The reminder is over when, in any order, it was said and the agent is no longer busy. */
  #goOn(reminder: { readonly said: boolean }): void {
    if (this.#reminder !== reminder || !reminder.said || this.#agent) return;
    this.#reminder = undefined;
    this.#wait(this.#options.afterMs / 2, () => this.#end());
  }

  #end(): void {
    this.stop();
    this.#options.onSilence();
  }

  #wait(ms: number, then: () => void): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    if (!this.#running || this.#user || this.#agent || this.#holds > 0) return;
    this.#timer = this.#options.clock.after(Math.max(0, ms), then);
  }
}
