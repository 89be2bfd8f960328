/** Speaks sentences in a call with any provider: sentences go in, and sound comes out as it arrives. */
import type { AudioFrame } from '@livekit/rtc-node';

import type { SpokenSentence } from './speech-source.ts';

export interface SentenceRequest extends SpokenSentence {
  /** Aborts when nobody listens any more. */
  readonly signal: AbortSignal;
}

/** Text to speech of a call, fallbacks included. */
export interface SpeechSynthesizer {
  /** Name of the provider that speaks now. */
  readonly provider: string;
  readonly model: string;
  /** Most sentences that may be requested at a time. */
  readonly sentencesAtOnce: number;
  /** Resolves with the first sound, after all attempts that it takes; frames have one channel. @throws ProviderError, or the signal's reason */
  request(request: SentenceRequest): Promise<AsyncIterable<AudioFrame>>;
  /** Opens the connection that the first words need. */
  connect(signal: AbortSignal): void;
  /** Closes it, and aborts its requests. */
  close(): Promise<void>;
}
