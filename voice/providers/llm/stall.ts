/** Limits how long an answer may be silent before the next model goes on with it. */
import { USUAL_CHARACTERS_PER_SECOND } from '../tts/rest-of-sentence.ts';

/** Longest silence in an answer, in milliseconds. */
export const STALL_MS = 900;
/** Longest silence where a tool call may be on its way, in milliseconds: some providers send it only when it is complete. */
const MAX_STALL_MS = 2_000;

const SENTENCE_END = /[.!?…:;。！？：；।؟۔]["'”’»)\]]*\s*$/u;

export interface SilentAnswer {
  readonly said: string;
  /** Time for which the words are heard, in milliseconds. */
  readonly saidForMs: number;
  readonly offersTools: boolean;
  /** True if the first part of a tool call has come. */
  readonly callsTool: boolean;
}

/**
 * Returns the longest silence, in milliseconds. Between two sentences a tool may be called: there what the caller still hears of the
 * answer decides how long to wait.
 */
export function stallLimitMs({ said, saidForMs, offersTools, callsTool }: SilentAnswer): number {
  if (callsTool) return MAX_STALL_MS;
  if (!offersTools || !SENTENCE_END.test(said)) return STALL_MS;
  const stillHeardMs = (said.length / USUAL_CHARACTERS_PER_SECOND) * 1_000 - saidForMs;
  return Math.min(MAX_STALL_MS, Math.max(STALL_MS, stillHeardMs));
}
