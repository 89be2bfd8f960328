/** The part of a text that was played before its speech was interrupted. */

/** Of one speech of the agent. */
export interface Synthesis {
  readonly text: string;
  /** Of all its sound, in seconds. */
  readonly seconds: number;
  /** Whether that is all of it. */
  readonly complete: boolean;
}

/**
 * Whole words, as many as there was time for: each character takes as long as any other.
 * @param heardSeconds how much of the sound was played
 */
export function playedTextOf({ text, seconds }: Synthesis, heardSeconds: number): string {
  if (seconds <= 0) return '';
  const share = Math.min(1, Math.max(0, heardSeconds / seconds));
  const length = Math.round(text.length * share);
  if (length >= text.length) return text;
  // A word that was cut off does not count.
  return text
    .slice(0, length + 1)
    .replace(/(?<!\S)\S*$/u, '')
    .trimEnd();
}
