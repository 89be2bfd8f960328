/** Decides whether speech over the agent's counts as an interruption. */
import type { AgentRevisionConfig } from '../../crds/agent-revision.ts';
import { millisecondsOf } from '../../crds/duration.ts';
import { hasOneOf, isBackchannel, mayBecomeBackchannel } from './backchannels.ts';

export interface InterruptionRules {
  readonly enabled: boolean;
  /** Shortest speech that interrupts, in milliseconds. */
  readonly minSpeechMs: number;
  /** Fewest words of speech that interrupts. */
  readonly minWords: number;
  /** Words that never interrupt, beside the backchannels of the language. */
  readonly acknowledgements?: readonly string[];
  /** Words that interrupt at once, however short. */
  readonly stopWords?: readonly string[];
}

/** The shortest sound that detection reports, in milliseconds; nothing shorter can interrupt. */
export const MIN_SPEECH_MS = 50;

/** Returns the rules of an agent. @param agent of a revision: its defaults are filled in */
export function interruptionRulesOf({ interruptions }: Pick<AgentRevisionConfig['agent'], 'interruptions'>): InterruptionRules {
  const { mode, minWords, minSpeechDuration, acknowledgements = [], stopWords = [] } = interruptions;
  const minSpeechMs = Math.max(MIN_SPEECH_MS, millisecondsOf(minSpeechDuration));
  return { enabled: mode === 'Always', minSpeechMs, minWords, acknowledgements, stopWords };
}

/** Detection measures in windows of 32 ms: speech that is just long enough may be measured as one less. */
const TOLERANCE_MS = 32;

/** Words while the agent was speaking. */
export interface SaidOver {
  readonly text: string;
  readonly speechMs: number;
  /** True if more words of the same sound are to come. */
  readonly goesOn: boolean;
}

/** Returns whether words interrupt. @param language BCP 47 tag */
export function countsAsInterruption({ text, speechMs, goesOn }: SaidOver, rules: InterruptionRules, language: string): boolean {
  if (!rules.enabled) return false;
  if (hasOneOf(text, rules.stopWords ?? [])) return true;
  return (
    speechMs + TOLERANCE_MS >= rules.minSpeechMs && wordsIn(text) >= rules.minWords && !isAcknowledgement(text, rules, language, goesOn)
  );
}

/** Returns whether words only show that somebody listens. @param goesOn true if the first words of such a phrase may be half of it */
export const isAcknowledgement = (text: string, { acknowledgements }: InterruptionRules, language: string, goesOn: boolean): boolean =>
  isBackchannel(text, language, acknowledgements) || (goesOn && mayBecomeBackchannel(text, language, acknowledgements));

/** Counts the words: whatever stands between spaces and is more than punctuation. */
export function wordsIn(text: string): number {
  return text.split(/\s+/u).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}
