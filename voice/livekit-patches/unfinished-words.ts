/**
 * LiveKit ends a turn after a silence, also while STT recognises what was said right before it: the answer to the words known so far would begin. Each
 * turn waits for those that are under way. Those that come begin LiveKit's own wait again, from when the user fell silent.
 * It does so as well while the VAD has not read all sound: after a stall of the process the timer of a turn comes before the user who goes on.
 */
import { setImmediate, setTimeout as delay } from 'node:timers/promises';

import { Task, type voice } from '@livekit/agents';

// The package doesn't export it; its file does, in the bundle too.
import { AgentActivity } from '../../node_modules/@livekit/agents/dist/voice/agent_activity.js';

/** As long as a stream may take for its finals, in milliseconds: then the words that are known are answered. */
const LONGEST_WAIT_MS = 5_000;
/** Words that turn out to be none come without an event. In milliseconds. */
const LOOK_EVERY_MS = 20;
/** A machine that never catches up answers all the same. In milliseconds. */
const LONGEST_READING_MS = 1_000;
/** A VAD reads several windows in that time, in milliseconds. */
const READING_MS = 1;

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

export interface Hearing {
  /** Whether speech was heard whose words are not known yet. */
  readonly stt: { readonly recognizes: boolean };
  /** Whether sound has come that is not read yet. */
  readonly vad: { readonly isBehind: boolean };
}

const hearings = new WeakMap<voice.AgentSession, Hearing>();

export function waitForWords(session: voice.AgentSession, hearing: Hearing): void {
  hearings.set(session, hearing);
}

export function keepTurnsOpen(): void {
  const prototype = AgentActivity.prototype as unknown as Activity;
  const { onEndOfTurn } = prototype;

  prototype.onEndOfTurn = async function afterWords(turn) {
    const hearing = hearings.get(this.agentSession);
    if (hearing === undefined) return onEndOfTurn.call(this, turn);
    const { stt, vad } = hearing;
    const { controller } = Task.current() as unknown as { readonly controller: AbortController };
    const from = performance.now();
    const waitedMs = (): number => performance.now() - from;
    const pauseMs = (): number | undefined => {
      if (this.audioRecognition?.isClosed === true) return undefined;
      if (vad.isBehind && waitedMs() < LONGEST_READING_MS) return READING_MS;
      return stt.recognizes && waitedMs() < LONGEST_WAIT_MS ? LOOK_EVERY_MS : undefined;
    };
    // Node.js runs timers that are due before it takes what has come.
    await setImmediate();
    for (;;) {
      // By words that came, or the user who goes on: the next silence ends the turn.
      controller.signal.throwIfAborted();
      const ms = pauseMs();
      if (ms === undefined) break;
      await delay(ms);
    }
    const { endOfUtteranceDelay } = turn;
    return onEndOfTurn.call(this, { ...turn, endOfUtteranceDelay: endOfUtteranceDelay && endOfUtteranceDelay + Math.round(waitedMs()) });
  };
}
