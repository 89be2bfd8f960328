/**
 * LiveKit's session pauses an answer while the user speaks, with three flaws that callers hear:
 *
 * - An answer that was about to start resumes the moment the user stops, before STT has their words: the start of an answer to half a question is
 *   heard until the other half is recognised.
 * - Once it is paused, it stays so for two seconds, also when the words are known and ask for nothing.
 * - When it gives an answer up, it resumes playback before it clears the audio buffer: a tenth of a second of the answer is heard late.
 */
import type { voice } from '@livekit/agents';

// The package doesn't export it; its file does, in the bundle too.
import { AgentActivity } from '../../node_modules/@livekit/agents/dist/voice/agent_activity.js';

interface PausedSpeech {
  timeout: number;
  readonly handle: { readonly interrupted: boolean; readonly allowInterruptions: boolean };
}

/** The part in use; its type hides it. */
interface Activity {
  readonly pausedSpeech?: PausedSpeech;
  readonly falseInterruptionTimer?: NodeJS.Timeout;
  readonly agentSession: {
    readonly sessionOptions: {
      readonly turnHandling: { readonly interruption: { readonly minDuration: number; readonly falseInterruptionTimeout?: number } };
    };
    readonly output: { readonly audio: { clearBuffer(): void } | null };
  };
  onEndOfSpeech: (this: Activity, event?: { readonly speechDuration: number }) => void;
  startFalseInterruptionTimer: (this: Activity, timeoutMs: number) => void;
  cancelSpeechPause: (this: Activity, options?: { readonly interrupt?: boolean }) => Promise<void>;
}

/** Answers over which nothing was said that counts. */
const undisturbed = new WeakSet<PausedSpeech>();

/** An answer that is paused goes on, as soon as the user is silent. @param session whose user has said nothing that counts */
export function resumeAnswer(session: voice.AgentSession): void {
  const { _activity: activity } = session as unknown as { readonly _activity?: Activity };
  if (activity?.pausedSpeech === undefined) return;
  undisturbed.add(activity.pausedSpeech);
  // It runs while the user is silent.
  if (activity.falseInterruptionTimer !== undefined) activity.startFalseInterruptionTimer(0);
}

export function keepInterruptedAnswersQuiet(): void {
  const prototype = AgentActivity.prototype as unknown as Activity;
  const { onEndOfSpeech, cancelSpeechPause } = prototype;

  prototype.onEndOfSpeech = function waitForWords(event) {
    const { pausedSpeech, agentSession } = this;
    const { minDuration, falseInterruptionTimeout = 0 } = agentSession.sessionOptions.turnHandling.interruption;
    if (pausedSpeech !== undefined && undisturbed.has(pausedSpeech)) pausedSpeech.timeout = 0;
    // The same wait as in the middle of an answer; a noise delays nothing.
    else if (pausedSpeech !== undefined && (event?.speechDuration ?? 0) >= minDuration)
      pausedSpeech.timeout = Math.max(pausedSpeech.timeout, falseInterruptionTimeout);
    onEndOfSpeech.call(this, event);
  };

  prototype.cancelSpeechPause = function clearBufferFirst(options) {
    const { handle } = this.pausedSpeech ?? {};
    if (options?.interrupt !== false && handle?.interrupted === false && handle.allowInterruptions)
      this.agentSession.output.audio?.clearBuffer();
    return cancelSpeechPause.call(this, options);
  };
}
