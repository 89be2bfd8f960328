/** Sources of sentences' sound: requests over HTTP, or one WebSocket for all answers of a call. */

/** An answer of the agent, whose sentences are to sound as a whole. */
export interface SpokenAnswer {
  /** Aborts once no more sentences follow. */
  readonly complete: AbortSignal;
}

export interface SpokenSentence {
  readonly text: string;
  readonly answer: SpokenAnswer;
  /** Text before the sentence in its answer; empty at the beginning. */
  readonly before: string;
}

export interface SpeechSource {
  readonly model: string;
  /** Most sentences that may be requested at a time. */
  readonly atOnce: number;
  /** Opens the connection that the first words need; an unreachable provider shows when it is needed. */
  connect(signal: AbortSignal): void;
  /** Yields bytes as they come: 16-bit PCM of `SAMPLE_RATE`, or a WAV file. @throws ProviderError, or the signal's own reason */
  soundOf(sentence: SpokenSentence, signal: AbortSignal): AsyncIterable<Uint8Array>;
  close(): void;
}

/** Returns the source, whose sound comes from `soundOf` instead. */
export const withSound = (source: SpeechSource, soundOf: SpeechSource['soundOf']): SpeechSource => ({
  model: source.model,
  atOnce: source.atOnce,
  connect: (signal) => source.connect(signal),
  soundOf,
  close: () => source.close(),
});
