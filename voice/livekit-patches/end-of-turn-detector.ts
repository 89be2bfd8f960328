/**
 * LiveKit's end-of-turn detector with a wait that grows with its doubt: its own stream knows a short and a long delay only, and answers a detector that
 * fails or is late with the long one.
 */
import { getJobContext, inference } from '@livekit/agents';

import { sleep, type Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';

/** Silence in which the library asks the detector, in milliseconds. */
const ASKED_AFTER_MS = 250;
/** Beyond the longest wait, after which the library stops waiting for an answer, in milliseconds. */
const MARGIN_MS = 1_000;

/** Silence that ends a turn, in milliseconds. */
export interface EndOfTurnDelays {
  /** When the detector is sure. */
  readonly sureMs: number;
  /** Without an answer of the detector. */
  readonly silenceMs: number;
  /** When the detector takes the user to be in the middle of a sentence. */
  readonly longestMs: number;
}

type Executor = NonNullable<inference.TurnDetectorOptions['executor']>;
type Stream = ReturnType<inference.TurnDetector['stream']>;

export interface EndOfTurnDetectorOptions {
  readonly delays: EndOfTurnDelays;
  /** BCP 47 tag: how sure is sure depends on it. */
  readonly language: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Runs the model; default: that of the agent server, for a call's process. */
  readonly executor?: Executor | undefined;
}

/**
 * A little doubt costs little: synthetic voices and poor lines hardly ever make the detector sure, and are no slower than with a fixed delay.
 * @param threshold from which on the detector is sure
 */
export function endOfTurnDelayMs(probability: number, threshold: number, { sureMs, longestMs }: EndOfTurnDelays): number {
  const doubt = Math.max(0, 1 - probability / threshold);
  return sureMs + (longestMs - sureMs) * doubt ** 3;
}

/**
 * The probability from which on the detector is sure. No language has less than English: with LiveKit's figure for German, the detector was sure in
 * more than half of the pauses inside synthesised sentences.
 * @param language BCP 47 tag; as English for those that the detector was not trained for
 */
export function sureFrom(language: string): number {
  const calibrated = new inference.ThresholdOptions('turn-detector-v1-mini');
  const english = calibrated.lookup('en') ?? 1;
  return Math.max(calibrated.lookup(language) ?? english, english);
}

/** Answers when the turn is over. The stream of a user who goes on has asked again by then, and ignores it. */
export class EndOfTurnDetector extends inference.TurnDetector {
  readonly #options: EndOfTurnDetectorOptions;
  #failed = false;

  constructor(options: EndOfTurnDetectorOptions) {
    // Without a version the library takes LiveKit's cloud where it finds it.
    super({ version: 'v1-mini', executor: { doInference: (method, data) => this.#endOfTurn(method, data) } });
    this.#options = { executor: getJobContext(false)?.inferenceExecutor, ...options };
  }

  override stream(...options: Parameters<inference.TurnDetector['stream']>): Stream {
    const { silenceMs, longestMs } = this.#options.delays;
    return Object.defineProperty(super.stream(...options), 'predictionTimeout', { value: Math.max(silenceMs, longestMs) + MARGIN_MS });
  }

  async #endOfTurn(method: string, data: unknown): Promise<object> {
    const { delays, clock, language, executor } = this.#options;
    const asked = clock.monotonic();
    const silence = (ms: number): Promise<void> => sleep(clock, Math.max(0, ms - ASKED_AFTER_MS - (clock.monotonic() - asked)));
    const missing = silence(delays.silenceMs).then(() => undefined);
    try {
      if (executor === undefined) throw new Error('this process has no end-of-turn detector');
      const answer = (await Promise.race([executor.doInference(method, data), missing])) as { readonly probability: number } | undefined;
      if (answer === undefined) throw new Error(`the end-of-turn detector did not answer within ${delays.silenceMs} ms of silence`);
      await silence(endOfTurnDelayMs(answer.probability, sureFrom(language), delays));
    } catch (err) {
      this.#report(err);
      await missing;
    }
    return { probability: 1, inferenceDurationMs: clock.monotonic() - asked };
  }

  /** Once: each turn of a call without a detector would say the same. */
  #report(err: unknown): void {
    if (this.#failed) return;
    this.#failed = true;
    this.#options.logger.warn(
      { err },
      'the end-of-turn detector did not answer; such turns end by silence. Give the voice role more CPU, or set turnDetection.mode: silence',
    );
  }
}
