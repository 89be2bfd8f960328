/** Decides how much silence ends a turn: a model hears the end of the user's words, and the wait grows with its doubt. */
import { inference } from '@livekit/agents';

import type { Logger } from '../../platform/logging.ts';

/** Number of samples that the model hears: the last 1.2 s of sound at 16 kHz. */
export const HEARD_SAMPLES = 19_200;

/** Silence that ends a turn, in milliseconds. */
export interface EndOfTurnDelays {
  /** Delay when the model is sure. */
  readonly sureMs: number;
  /** Delay without an answer of the model. */
  readonly silenceMs: number;
  /** Delay when the model takes the user to be in the middle of a sentence. */
  readonly longestMs: number;
}

/** Runs the model, once for all calls of an agent server. */
export interface TurnModel {
  /** Runs the model. @param data.pcm base64 of 16 bit samples at 16 kHz */
  doInference(method: string, data: { readonly pcm: string }): Promise<unknown>;
}

export interface TurnDetectorOptions {
  readonly delays: EndOfTurnDelays;
  /** BCP 47 tag: the threshold of being sure depends on it. */
  readonly language: string;
  /** Absent in a process that has none. */
  readonly model: TurnModel | undefined;
  readonly logger: Logger;
}

/**
 * Returns the delay. A little doubt costs little: synthetic voices and poor lines hardly ever make the model sure, and are no slower than
 * with a fixed delay.
 * @param threshold from which on the model is sure
 */
export function endOfTurnDelayMs(probability: number, threshold: number, { sureMs, longestMs }: EndOfTurnDelays): number {
  const doubt = Math.max(0, 1 - probability / threshold);
  return sureMs + (longestMs - sureMs) * doubt ** 3;
}

/**
 * Returns the probability from which on the model is sure. No language has less than English: with LiveKit's figure for German, the model
 * was sure in more than half of the pauses inside synthesised sentences.
 * @param language BCP 47 tag; as English for those that the model was not trained for
 */
export function sureFrom(language: string): number {
  const calibrated = new inference.ThresholdOptions('turn-detector-v1-mini');
  const english = calibrated.lookup('en') ?? 1;
  return Math.max(calibrated.lookup(language) ?? english, english);
}

export class TurnDetector {
  readonly #options: TurnDetectorOptions;
  readonly #sureFrom: number;
  #failed = false;

  constructor(options: TurnDetectorOptions) {
    this.#options = options;
    this.#sureFrom = sureFrom(options.language);
  }

  /**
   * Returns the silence that ends the turn, in milliseconds, from the end of the sound; undefined where the model gives no answer. @param
   * sound at 16 kHz
   */
  async delayMs(sound: Int16Array): Promise<number | undefined> {
    const { model, delays } = this.#options;
    try {
      if (model === undefined) throw new Error('this process has no end-of-turn detector');
      const pcm = Buffer.from(sound.buffer, sound.byteOffset, sound.byteLength).toString('base64');
      const { probability } = (await model.doInference('lk_eot_audio', { pcm })) as { readonly probability: number };
      return endOfTurnDelayMs(probability, this.#sureFrom, delays);
    } catch (err) {
      this.#report(err);
      return undefined;
    }
  }

  /** Reports a failure once: each turn of a call without a detector would say the same. */
  #report(err: unknown): void {
    if (this.#failed) return;
    this.#failed = true;
    this.#options.logger.warn(
      { err },
      'the end-of-turn detector did not answer; such turns end by silence. Give the voice role more CPU, or set turnDetection.mode: Silence',
    );
  }
}
