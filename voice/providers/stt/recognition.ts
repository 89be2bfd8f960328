/** Speech to text of a call: the user's sound goes in as it comes, and words come out as they are known. */

/** Sample rate of the sound that is pushed, in Hz; providers get the rate that they take. */
export const RECOGNITION_SAMPLE_RATE = 16_000;

export type RecognitionEvent =
  /** Words of the segment under way, which may still change; they replace those of the event before. */
  | { readonly type: 'interim'; readonly text: string }
  /** The words of a segment, which won't change. */
  | { readonly type: 'final'; readonly text: string }
  /** All words of what was said before the last pause have come, or there were none; seconds late where a noise isn't answered. */
  | { readonly type: 'settled' }
  /** It has failed after all attempts and fallbacks; nothing follows. */
  | { readonly type: 'failed'; readonly error: unknown };

export interface Recognition {
  /** Pushes sound. @param samples 16 bits, one channel, {@link RECOGNITION_SAMPLE_RATE}; copied */
  push(samples: Int16Array): void;
  /** Notes that the user begins to speak, or goes on. @param unreadMs pushed sound that the VAD has not read yet, in milliseconds */
  speaks(unreadMs?: number): void;
  /** Notes that the user has paused: the final words are asked for at once, instead of when the provider notices. */
  pauses(): void;
  /** True if each pause is a request of its own: words on both sides of a short one are better recognised in one. */
  readonly byRequest: boolean;
  /** True while words are under way: some came that may still change, or are due. */
  readonly recognizes: boolean;
  /** Ends the events. Idempotent. */
  close(): void;
}

/** Speech to text of a call, its fallbacks included. */
export interface SpeechRecognizer {
  readonly provider: string;
  readonly model: string;
  /** Connects at once. @param onEvent is called later than this returns */
  listen(onEvent: (event: RecognitionEvent) => void): Recognition;
  close(): Promise<void>;
}
