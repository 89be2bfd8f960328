/** Derives the settings of sound from those of an agent. Pure. */
import type { AgentRevisionConfig } from '../../crds/agent-revision.ts';
import { millisecondsOf } from '../../crds/duration.ts';
import type { AmbientSound } from '../ambience/ambience.ts';
import { interruptionRulesOf, MIN_SPEECH_MS } from '../conversation/interruption-rules.ts';
import type { EndOfTurnDelays } from './turn-detector.ts';
import type { VoiceActivitySettings } from './voice-activity.ts';

/** Longest wait of the recognition for the next word, in milliseconds: a pause inside a sentence is not its end. */
const LONGEST_PAUSE_MS = 250;
/** Shortest pause: below it, each consonant would end a sentence. */
const SHORTEST_PAUSE_MS = 100;
/** Longest wait for the user to go on, unless the agent's own delay is longer, in milliseconds. */
const LONGEST_TURN_END_MS = 3_000;
/** Time for which the detector hears a pause before it answers, in milliseconds: there is no point in it where the delay is shorter. */
const SHORTEST_MODEL_DELAY_MS = 300;
/** Share of the delay where the detector is sure. */
const SURE = 0.6;

type Agent = Pick<AgentRevisionConfig['agent'], 'turnDetection' | 'interruptions' | 'ambientSound'>;

export interface SoundSettings {
  readonly activity: VoiceActivitySettings;
  /** Silence that ends a turn, in milliseconds, unless the end-of-turn detector says otherwise. */
  readonly turnEndMs: number;
  /** Delays of the end-of-turn detector; absent where turns end after a fixed silence. */
  readonly endOfTurn: EndOfTurnDelays | undefined;
  /** Background sound; absent for none. */
  readonly ambient: AmbientSound | undefined;
}

/** Returns the settings. @param agent of a revision: its defaults are filled in */
export function soundSettingsOf(agent: Agent): SoundSettings {
  const turnEndMs = millisecondsOf(agent.turnDetection.endOfSpeechDelay);
  const { source } = agent.ambientSound;
  const volume = Number(agent.ambientSound.volume);
  return {
    activity: {
      shortestMs: MIN_SPEECH_MS,
      longMs: interruptionRulesOf(agent).minSpeechMs,
      // Recognition begins in the pause, so that it is done when the delay has passed.
      pauseMs: Math.max(SHORTEST_PAUSE_MS, Math.min(LONGEST_PAUSE_MS, turnEndMs)),
    },
    turnEndMs,
    endOfTurn:
      agent.turnDetection.mode === 'Model' && turnEndMs >= SHORTEST_MODEL_DELAY_MS
        ? { sureMs: Math.round(SURE * turnEndMs), silenceMs: turnEndMs, longestMs: Math.max(turnEndMs, LONGEST_TURN_END_MS) }
        : undefined,
    ambient: source === undefined || volume === 0 ? undefined : { source, volume },
  };
}
