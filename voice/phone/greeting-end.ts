/** Finds out when a mailbox takes a message: after its tone, or after a while of silence where none is heard. */
import type { Clock, Timer } from '../../platform/clock.ts';
import type { EarEvent } from '../conversation/ports.ts';
import { BeepDetector } from './beep.ts';

/** Silence after which no tone is waited for, in milliseconds: tones come within two seconds of the last word. */
const SILENCE_MS = 2_500;
/** Longest wait, in milliseconds: something else may sound all the time. */
const LONGEST_MS = 30_000;

export class GreetingEnd {
  readonly #clock: Clock;
  readonly #beep = new BeepDetector();
  readonly #over = Promise.withResolvers<void>();
  #speaking = false;
  /** Start of the last silence. */
  #quietSince: number;
  /** True if a tone was heard, and nothing after it. */
  #beeped = false;
  #awaited = false;
  #limit: Timer | undefined;
  #silence: Timer | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#quietSince = clock.now();
  }

  /** Hears a window of the callee's sound. */
  hearSound(window: Int16Array): void {
    if (!this.#beep.hear(window)) return;
    this.#beeped = true;
    // Nobody speaks on behind the tone; detection may have taken it for a voice.
    this.#speaking = false;
    this.#look();
  }

  hear(event: EarEvent): void {
    if (event.type === 'speaks') {
      this.#speaking = true;
      this.#beeped = false;
    } else if (event.type === 'pauses') {
      this.#speaking = false;
      this.#quietSince = this.#clock.now();
    } else return;
    this.#look();
  }

  /** Resolves when a message may be said; never, once it was stopped. */
  over(): Promise<void> {
    this.#awaited = true;
    this.#limit = this.#clock.after(LONGEST_MS, () => this.#end());
    this.#look();
    return this.#over.promise;
  }

  stop(): void {
    this.#awaited = false;
    this.#limit?.cancel();
    this.#silence?.cancel();
  }

  #look(): void {
    if (!this.#awaited) return;
    this.#silence?.cancel();
    if (this.#beeped) return this.#end();
    if (this.#speaking) return;
    this.#silence = this.#clock.after(Math.max(0, this.#quietSince + SILENCE_MS - this.#clock.now()), () => this.#end());
  }

  #end(): void {
    this.stop();
    this.#over.resolve();
  }
}
