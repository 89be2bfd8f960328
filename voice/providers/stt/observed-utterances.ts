/**
 * Reports what a stream of speech recognises as spans and measurements: one for each utterance, from its first words, or from the pause
 * after which they were asked for, to the last final transcript.
 */
import { capturesContent } from '../../../platform/telemetry/tracing.ts';
import { messagesText, textPart } from '../../../platform/telemetry/gen-ai/content.ts';
import { OUTPUT_MESSAGES, OUTPUT_TYPE, SPEECH_TO_TEXT } from '../../../platform/telemetry/gen-ai/conventions.ts';
import type { ModelRequestObserver, RequestOutcome } from '../../../platform/telemetry/gen-ai/model-requests.ts';

export interface ObservedUtterancesOptions {
  readonly observer: ModelRequestObserver;
  /** The time, in milliseconds since the epoch. */
  readonly now: () => number;
}

/** The recogniser of the moment. */
export interface RecognizerName {
  readonly provider: string;
  readonly model: string;
  /** Base URL of its API. */
  readonly address?: string | undefined;
}

interface Utterance {
  readonly by: RecognizerName;
  readonly startedAt: number;
  pausedAt?: number;
  /** True once words came. */
  heard: boolean;
  text: string;
}

export class ObservedUtterances {
  readonly #options: ObservedUtterancesOptions;
  #utterance: Utterance | undefined;

  constructor(options: ObservedUtterancesOptions) {
    this.#options = options;
  }

  /** Notes that the user begins to speak: a noise that was asked for, and had no words, is no part of it. */
  speaks(): void {
    if (this.#utterance?.text === '' && !this.#utterance.heard) this.#utterance = undefined;
  }

  /** Notes words that may still change. */
  words(by: RecognizerName): void {
    this.#begin(by).heard = true;
  }

  /** Notes that the user has paused, and the finals were asked for. */
  paused(by: RecognizerName): void {
    this.#begin(by).pausedAt = this.#options.now();
  }

  /** Takes words that stay. They end the utterance after its pause, or where the provider ends turns itself. */
  final(by: RecognizerName, text: string): void {
    const utterance = this.#begin(by);
    utterance.text = `${utterance.text} ${text}`.trim();
    if (utterance.pausedAt !== undefined) this.#end('completed');
  }

  /** Ends the utterance: nothing more comes of it. */
  settled(): void {
    this.#end('completed');
  }

  failed(failure: string): void {
    this.#end({ failure });
  }

  closed(): void {
    this.#end('cancelled');
  }

  #begin(by: RecognizerName): Utterance {
    return (this.#utterance ??= { by, startedAt: this.#options.now(), heard: false, text: '' });
  }

  /** Reports the utterance: only now is it known to which turn it belongs. A noise without words is none. */
  #end(outcome: RequestOutcome): void {
    const utterance = this.#utterance;
    this.#utterance = undefined;
    if (utterance === undefined || (utterance.text === '' && typeof outcome === 'string')) return;
    const { observer, now } = this.#options;
    const { by, startedAt, pausedAt, text } = utterance;
    const observed = observer.begin({ operation: SPEECH_TO_TEXT, ...by, streams: false, startedAt, attributes: { [OUTPUT_TYPE]: 'text' } });
    observed.end(outcome, {
      attributes: {
        ...(pausedAt !== undefined && { 'parley.stt.delay_ms': Math.max(0, now() - pausedAt) }),
        ...(capturesContent() && text !== '' && { [OUTPUT_MESSAGES]: messagesText([transcriptOf(text)]) }),
      },
    });
  }
}

export const transcriptOf = (text: string) => ({ role: 'user', parts: [textPart(text)], finish_reason: 'stop' });
