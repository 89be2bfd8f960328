/**
 * What LiveKit's session does otherwise here with answers that are interrupted.
 *
 * It holds an answer back while the user speaks. One that was about to begin it lets begin the moment they stop, before it is known what they said: the
 * beginning of an answer to half a question is heard until the other half has been recognised. And when it is known that an answer is not to go on, it
 * lets go of it before it throws away what was held back: a tenth of a second of it is heard, long after it was interrupted.
 */
// No export of the package's leads there; its file does, in the bundle too.
import { AgentActivity } from '../../node_modules/@livekit/agents/dist/voice/agent_activity.js';

/** Of `@livekit/agents` 1.9.0, `voice/agent_activity`; its type keeps this to itself. */
interface Activity {
  readonly pausedSpeech?: { timeout: number; readonly handle: { readonly interrupted: boolean; readonly allowInterruptions: boolean } };
  readonly agentSession: {
    readonly sessionOptions: { readonly turnHandling: { readonly interruption: Interruption } };
    readonly output: { readonly audio: { clearBuffer(): void } | null };
  };
  onEndOfSpeech: (this: Activity, event?: { readonly speechDuration: number }) => void;
  cancelSpeechPause: (this: Activity, options?: { readonly interrupt?: boolean }) => Promise<void>;
}

interface Interruption {
  readonly minDuration: number;
  readonly falseInterruptionTimeout?: number;
}

/** For every session of this process, from now on. */
export function keepInterruptedAnswersQuiet(): void {
  const prototype = AgentActivity.prototype as unknown as Activity;
  const { onEndOfSpeech, cancelSpeechPause } = prototype;

  prototype.onEndOfSpeech = function waitForWords(event) {
    const { pausedSpeech, agentSession } = this;
    const { minDuration, falseInterruptionTimeout = 0 } = agentSession.sessionOptions.turnHandling.interruption;
    // As in the middle of an answer; a noise delays nothing.
    if (pausedSpeech !== undefined && (event?.speechDuration ?? 0) >= minDuration)
      pausedSpeech.timeout = Math.max(pausedSpeech.timeout, falseInterruptionTimeout);
    onEndOfSpeech.call(this, event);
  };

  prototype.cancelSpeechPause = function throwAwayFirst(options) {
    const { handle } = this.pausedSpeech ?? {};
    if (options?.interrupt !== false && handle?.interrupted === false && handle.allowInterruptions)
      this.agentSession.output.audio?.clearBuffer();
    return cancelSpeechPause.call(this, options);
  };
}
