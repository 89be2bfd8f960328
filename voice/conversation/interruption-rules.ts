/** Decides whether speech over the agent's counts as an interruption. */
import type { AgentRevisionConfig } from '../../crds/agent-revision.ts';
import { millisecondsOf } from '../../crds/duration.ts';

export interface InterruptionRules {
  readonly enabled: boolean;
  /** Shortest speech that interrupts, in milliseconds. */
  readonly minSpeechMs: number;
  /** Fewest words of speech that interrupts. */
  readonly minWords: number;
}

/** The shortest sound that detection reports, in milliseconds; nothing shorter can interrupt. */
export const MIN_SPEECH_MS = 50;

/** Returns the rules of an agent. @param agent of a revision: its defaults are filled in */
export function interruptionRulesOf({ interruptions }: Pick<AgentRevisionConfig['agent'], 'interruptions'>): InterruptionRules {
  const { mode, minWords, minSpeechDuration } = interruptions;
  return { enabled: mode === 'Always', minSpeechMs: Math.max(MIN_SPEECH_MS, millisecondsOf(minSpeechDuration)), minWords };
}

/** Detection measures in windows of 32 ms: speech that is just long enough may be measured as one less. */
const TOLERANCE_MS = 32;

/** Returns whether words interrupt. @param said the words while the agent was speaking */
export function countsAsInterruption(said: { readonly text: string; readonly speechMs: number }, rules: InterruptionRules): boolean {
  return rules.enabled && said.speechMs + TOLERANCE_MS >= rules.minSpeechMs && wordsIn(said.text) >= rules.minWords;
}

/** Counts the words: whatever stands between spaces and is more than punctuation. */
export function wordsIn(text: string): number {
  return text.split(/\s+/u).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}
