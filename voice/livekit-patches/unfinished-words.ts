/**
 * LiveKit ends a turn after a silence, also while STT recognises what was said right before it: the answer to the words known so far would begin. Each
 * turn waits for those that are under way. Those that come begin LiveKit's own wait again, from when the user fell silent.
 */
import { setTimeout as delay } from 'node:timers/promises';

import { Task, type voice } from '@livekit/agents';

// The package doesn't export it; its file does, in the bundle too.
import { AgentActivity } from '../../node_modules/@livekit/agents/dist/voice/agent_activity.js';

/** As long as a stream may take for its finals, in milliseconds: then the words that are known are answered. */
const LONGEST_WAIT_MS = 5_000;
/** Words that turn out to be none come without an event. In milliseconds. */
const LOOK_EVERY_MS = 20;

/** The part in use; its type hides it. */
interface Activity {
  readonly agentSession: voice.AgentSession;
  readonly audioRecognition?: { readonly isClosed: boolean };
  onEndOfTurn: (this: Activity, turn: EndOfTurn) => Promise<boolean>;
}

interface EndOfTurn {
  /** In milliseconds. */
  readonly endOfUtteranceDelay: number | undefined;
}

const recognizers = new WeakMap<voice.AgentSession, () => boolean>();

/** @param recognizes whether the STT has heard speech whose words it does not know yet */
export function waitForWords(session: voice.AgentSession, recognizes: () => boolean): void {
  recognizers.set(session, recognizes);
}

export function keepTurnsOpen(): void {
  const prototype = AgentActivity.prototype as unknown as Activity;
  const { onEndOfTurn } = prototype;

  prototype.onEndOfTurn = async function afterWords(turn) {
    const recognizes = recognizers.get(this.agentSession);
    if (recognizes?.() !== true) return onEndOfTurn.call(this, turn);
    const { controller } = Task.current() as unknown as { readonly controller: AbortController };
    const from = performance.now();
    const waitedMs = (): number => performance.now() - from;
    while (recognizes() && waitedMs() < LONGEST_WAIT_MS && this.audioRecognition?.isClosed !== true) {
      await delay(LOOK_EVERY_MS);
      // By words that came, or the user who goes on: the next silence ends the turn.
      controller.signal.throwIfAborted();
    }
    const { endOfUtteranceDelay } = turn;
    return onEndOfTurn.call(this, { ...turn, endOfUtteranceDelay: endOfUtteranceDelay && endOfUtteranceDelay + waitedMs() });
  };
}
