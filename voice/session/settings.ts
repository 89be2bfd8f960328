/** The settings of a conversation, from those of its agent. Pure. */
import type { voice } from '@livekit/agents';

import type { AgentRevisionConfig } from '../../crds/agent-revision.ts';
import { millisecondsOf } from '../../crds/duration.ts';
import type { AmbientSound } from '../ambience/ambience.ts';
import type { EndOfTurnDelays } from '../livekit-patches/index.ts';
import { interruptionRulesOf, MIN_SPEECH_MS, type InterruptionRules } from '../conversation/interruption-rules.ts';

/** A pause inside a sentence is not its end: recognition waits this long for the next word, in milliseconds. */
const LONGEST_PAUSE_MS = 250;
/** Below this, each consonant would end a sentence. */
const SHORTEST_PAUSE_MS = 100;
/** How long after a pause that turned out to be none the agent goes on, in milliseconds. */
const RESUME_AFTER_MS = 2_000;
/** Longest wait for the user to go on, unless the agent's own delay is longer, in milliseconds. */
const LONGEST_ENDPOINTING_MS = 3_000;
/** The detector hears a pause for so long before it answers, in milliseconds: there is no point in it where the delay is shorter. */
const SHORTEST_MODEL_DELAY_MS = 300;
/** Of the delay, where the detector is sure. */
const SURE = 0.6;
/** Calls of tools in a row before the model has to answer without any. */
const MAX_TOOL_STEPS = 8;
/**
 * For the next sound of an answer, in milliseconds: by default the library drops the rest after 10 s, without an error. What a model and a voice may
 * take, each with a limit of its own, adds up, and a process that stood still counts too.
 */
const LONGEST_WAIT_FOR_SOUND_MS = 60_000;

export interface ConversationSettings {
  readonly session: Pick<
    voice.AgentSessionOptions,
    | 'turnHandling'
    | 'maxToolSteps'
    | 'userAwayTimeout'
    | 'aecWarmupDuration'
    | 'connOptions'
    | 'ttsReadIdleTimeout'
    | 'forwardAudioIdleTimeout'
    | 'ttsTextTransforms'
  >;
  readonly vad: { readonly minSpeechDuration: number; readonly minSilenceDuration: number };
  /** Absent where turns end after a fixed silence. */
  readonly endOfTurn: EndOfTurnDelays | undefined;
  readonly interruptions: InterruptionRules;
  /** In milliseconds. */
  readonly endAfterSilenceMs: number;
  /** In milliseconds, from the first media. */
  readonly maxDurationMs: number;
  /** Absent for no background sound. */
  readonly ambient: AmbientSound | undefined;
}

/** @param agent of a revision: its defaults are filled in */
export function conversationSettingsOf(agent: AgentRevisionConfig['agent']): ConversationSettings {
  const interruptions = interruptionRulesOf(agent);
  const { enabled, minWords, minSpeechMs } = interruptions;
  const delayMs = millisecondsOf(agent.turnDetection.endOfSpeechDelay);
  const longestMs = Math.max(delayMs, LONGEST_ENDPOINTING_MS);
  // Agents of former versions have no mode.
  const endOfTurn =
    agent.turnDetection.mode === 'model' && delayMs >= SHORTEST_MODEL_DELAY_MS
      ? { sureMs: Math.round(SURE * delayMs), silenceMs: delayMs, longestMs }
      : undefined;
  const { source, volume } = agent.ambientSound;
  return {
    session: {
      turnHandling: {
        // The conversation puts its detector in its place where there is to be one.
        turnDetection: 'vad',
        endpointing: { mode: 'fixed', minDelay: endOfTurn?.sureMs ?? delayMs, maxDelay: longestMs },
        interruption: {
          enabled,
          mode: 'vad',
          minDuration: minSpeechMs,
          minWords,
          falseInterruptionTimeout: RESUME_AFTER_MS,
          resumeFalseInterruption: true,
        },
        preemptiveGeneration: { enabled: true },
      },
      // LiveKit answers without tools after one more than it is told.
      maxToolSteps: MAX_TOOL_STEPS - 1,
      // Silence is this project's to measure: see SilenceTimer.
      userAwayTimeout: null,
      // By default the first three seconds of speech cannot be interrupted: that is most of a welcome message.
      aecWarmupDuration: null,
      // They delete words, and hold the whole answer back for one stray sign: the voice puts what it gets into words itself.
      ttsTextTransforms: null,
      ttsReadIdleTimeout: LONGEST_WAIT_FOR_SOUND_MS,
      forwardAudioIdleTimeout: LONGEST_WAIT_FOR_SOUND_MS,
      connOptions: {
        // The call is ended by the reason that the failure stands for, not by the session.
        maxUnrecoverableErrors: Number.POSITIVE_INFINITY,
      },
    },
    // Recognition begins in the pause, so that it is done when the delay has passed.
    vad: { minSpeechDuration: MIN_SPEECH_MS, minSilenceDuration: Math.max(SHORTEST_PAUSE_MS, Math.min(LONGEST_PAUSE_MS, delayMs)) },
    endOfTurn,
    interruptions,
    endAfterSilenceMs: millisecondsOf(agent.call.endAfterSilence),
    maxDurationMs: millisecondsOf(agent.call.maxDuration),
    ambient: source === 'none' || volume === 0 ? undefined : { source, volume },
  };
}
