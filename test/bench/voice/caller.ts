/** Asks in time and hears when it is answered, whatever carries the sound. */
import { setTimeout as delay } from 'node:timers/promises';

import { syntheticSpeech } from '../../support/synthetic-speech.ts';
import type { AnsweredTurn } from './added-latency.ts';

/** Default length of a frame, in milliseconds: Opus takes this. */
const opusFrameMs = 20;
/** Sound of this loudness is the agent's. */
const loud = 500;
/** Silence after which an agent has finished, in milliseconds. */
const quietMs = 500;
const questionMs = 1_200;
const interruptionMs = 2_500;
/** Longest wait of a caller, in milliseconds. */
const timeoutMs = 30_000;
/** Longest wait for a welcome, in milliseconds: many callers at once have to wait until there is a process for each. */
const welcomeTimeoutMs = 180_000;

export const now = (): number => performance.timeOrigin + performance.now();

/** An awaited sound has not come. */
export class UnheardError extends Error {
  override readonly name = 'UnheardError';
}

/** Repeats `once`, and counts what was not answered. */
export async function repeatedly<T>(
  times: number,
  once: () => Promise<T>,
): Promise<{ readonly done: readonly T[]; readonly unanswered: number }> {
  const done: T[] = [];
  for (let index = 0; index < times; index += 1) {
    try {
      done.push(await once());
    } catch (error) {
      if (!(error instanceof UnheardError)) throw error;
    }
  }
  return { done, unanswered: times - done.length };
}

export interface Interruption {
  /** Time of the first sound of the one who interrupts. */
  readonly began: number;
  /** Time of the agent's last sound. */
  readonly quiet: number;
}

/** The caller's audio; its transport calls {@link CallerSound.next} for each frame and {@link CallerSound.heard} for what comes. */
export class CallerSound {
  readonly #sampleRate: number;
  readonly #frameMs: number;
  #toSay = new Int16Array(0);
  #began = 0;
  #ended = 0;
  #firstLoud = 0;
  #lastLoud = 0;

  constructor(sampleRate: number, frameMs: number = opusFrameMs) {
    this.#sampleRate = sampleRate;
    this.#frameMs = frameMs;
  }

  /** @param aheadMs milliseconds from handing it over until it is heard */
  next(aheadMs: number): Int16Array {
    const samples = new Int16Array((this.#sampleRate * this.#frameMs) / 1_000);
    if (this.#toSay.length === 0) return samples;
    if (this.#began === 0) this.#began = now() + aheadMs;
    samples.set(this.#toSay.subarray(0, samples.length));
    this.#toSay = this.#toSay.subarray(samples.length);
    if (this.#toSay.length === 0) this.#ended = now() + aheadMs + this.#frameMs;
    return samples;
  }

  heard(samples: Int16Array): void {
    if (!samples.some((sample) => sample > loud)) return;
    this.#lastLoud = now();
    if (this.#firstLoud === 0) this.#firstLoud = this.#lastLoud;
  }

  /** @returns when the agent begins to speak @throws UnheardError when it doesn't */
  async hears(what: string, withinMs: number = timeoutMs): Promise<number> {
    await until(() => this.#firstLoud > 0, what, withinMs);
    return this.#firstLoud;
  }

  /** @returns when the agent says its first word @throws UnheardError */
  welcomed(): Promise<number> {
    return this.hears('the welcome', welcomeTimeoutMs);
  }

  /** @returns when the agent was heard last */
  async quiet(): Promise<number> {
    await until(() => now() - this.#lastLoud > quietMs, 'the end of what the agent says');
    return this.#lastLoud;
  }

  async ask(): Promise<AnsweredTurn> {
    await this.quiet();
    // Callers don't ask all at the same time.
    await delay(Math.random() * 600);
    this.#say(questionMs);
    await until(() => this.#ended > 0, 'the end of the question');
    this.#firstLoud = 0;
    const answered = await this.hears('an answer');
    return { asked: this.#ended, answered };
  }

  /** Cuts in while the agent answers, and waits for the next answer. */
  async interrupt(): Promise<Interruption> {
    if (now() - this.#lastLoud > quietMs) await this.ask();
    await delay(1_000 + Math.random() * 500);
    this.#say(interruptionMs);
    await until(() => this.#began > 0, 'the beginning of the interruption');
    const began = this.#began;
    const quiet = await this.quiet();
    this.#firstLoud = 0;
    await this.hears('an answer');
    if (quiet < began) throw new UnheardError('the agent had fallen silent before it was interrupted');
    return { began, quiet };
  }

  #say(ms: number): void {
    [this.#began, this.#ended] = [0, 0];
    this.#toSay = syntheticSpeech({ sampleRate: this.#sampleRate, ms });
  }
}

async function until(reached: () => boolean, what: string, withinMs: number = timeoutMs): Promise<void> {
  for (const startedAt = now(); !reached(); await delay(5))
    if (now() - startedAt > withinMs) throw new UnheardError(`${what} has not come within ${withinMs / 1_000} s`);
}
