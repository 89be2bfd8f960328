/**
 * LiveKit ends a turn after a silence, also while STT recognises what was said right before it: the answer to the words known so far would begin. Each
 * turn waits for those that are under way. Those that come begin LiveKit's own wait again, from when the user fell silent.
 * It does so as well while the VAD has not read the sound that had come by then: after a stall of the process the timer of a turn comes before the user
 * who goes on.
 */
import { setImmediate } from 'node:timers/promises';

import { Task, type VADEvent, type voice } from '@livekit/agents';

// The package doesn't export it; its file does, in the bundle too.
import { AgentActivity } from '../../node_modules/@livekit/agents/dist/voice/agent_activity.js';
import { sleep, systemClock, type Clock } from '../../platform/clock.ts';
import type { MeasuredVad } from './measured-vad.ts';

/** As long as a stream may take for its finals, in milliseconds: then the words that are known are answered. */
const LONGEST_WAIT_MS = 5_000;
/** Words that turn out to be none come without an event. In milliseconds. */
const LOOK_EVERY_MS = 20;
/** Sound that is never read is answered all the same. In milliseconds. */
const LONGEST_READING_MS = 15_000;
/** A VAD reads several windows in that time, in milliseconds. */
const READING_MS = 1;

/** The part in use; its type hides it. */
interface Activity {
  readonly agentSession: voice.AgentSession;
  readonly audioRecognition?: Recognition;
  onEndOfTurn: (this: Activity, turn: EndOfTurn) => Promise<boolean>;
  onStartOfSpeech: (this: Activity, event: VADEvent) => void;
}

/** Times are milliseconds since the epoch. */
interface Recognition {
  readonly isClosed: boolean;
  readonly audioTranscript: string;
  userTurnStart: number | undefined;
  readonly lastSpeakingTime: number | undefined;
  readonly lastFinalTranscriptTime: number;
}

/** Delays are in milliseconds. */
interface EndOfTurn {
  readonly startedSpeakingAt?: number | undefined;
  readonly stoppedSpeakingAt?: number | undefined;
  readonly transcriptionDelay?: number | undefined;
  readonly endOfUtteranceDelay: number | undefined;
}

export interface Hearing {
  readonly stt: {
    /** Whether speech was heard whose words are not known yet. */
    readonly recognizes: boolean;
  };
  readonly vad: Pick<MeasuredVad, 'reading'>;
}

const hearings = new WeakMap<voice.AgentSession, Hearing>();

export function waitForWords(session: voice.AgentSession, hearing: Hearing): void {
  hearings.set(session, hearing);
}

export function keepTurnsOpen(clock: Clock = systemClock): void {
  const prototype = AgentActivity.prototype as unknown as Activity;
  const { onEndOfTurn, onStartOfSpeech } = prototype;

  // The library dates a turn from the noise before it: its words would come before the agent's answer to those before.
  prototype.onStartOfSpeech = function afterNoise(event) {
    const { agentSession, audioRecognition } = this;
    if (audioRecognition?.audioTranscript === '' && hearings.get(agentSession)?.stt.recognizes === false)
      audioRecognition.userTurnStart = clock.now() - event.speechDuration - event.inferenceDuration;
    onStartOfSpeech.call(this, event);
  };

  prototype.onEndOfTurn = async function afterWords(turn) {
    const hearing = hearings.get(this.agentSession);
    if (hearing === undefined) return onEndOfTurn.call(this, turn);
    const { stt, vad } = hearing;
    const { controller } = Task.current() as unknown as { readonly controller: AbortController };
    const from = clock.monotonic();
    const wait = async (
      is: () => boolean,
      { longestMs, everyMs }: { readonly longestMs: number; readonly everyMs: number },
    ): Promise<void> => {
      const end = clock.monotonic() + longestMs;
      while (is() && clock.monotonic() < end && this.audioRecognition?.isClosed !== true) {
        await sleep(clock, everyMs);
        // By words that came, or the user who goes on: the next silence ends the turn.
        controller.signal.throwIfAborted();
      }
    };
    const read = async (): Promise<void> => {
      // Node.js runs timers that are due before it takes what has come.
      await setImmediate();
      controller.signal.throwIfAborted();
      await wait(vad.reading(), { longestMs: LONGEST_READING_MS, everyMs: READING_MS });
    };
    await read();
    if (stt.recognizes) {
      await wait(() => stt.recognizes, { longestMs: LONGEST_WAIT_MS, everyMs: LOOK_EVERY_MS });
      await read();
    }
    const waitedMs = Math.round(clock.monotonic() - from);
    const { endOfUtteranceDelay } = turn;
    const measured =
      endOfUtteranceDelay === undefined
        ? withTimes(turn, this.audioRecognition, clock)
        : { ...turn, endOfUtteranceDelay: endOfUtteranceDelay + waitedMs };
    return onEndOfTurn.call(this, measured);
  };
}

/** Sound that came at once after a stall is read within moments: by the clock its speech ended before it began, and the library leaves out all times. */
function withTimes(turn: EndOfTurn, recognition: Recognition | undefined, clock: Clock): EndOfTurn {
  const { userTurnStart: began, lastSpeakingTime: ended, lastFinalTranscriptTime: understood = 0 } = recognition ?? {};
  if (began === undefined || ended === undefined || understood === 0) return turn;
  return {
    ...turn,
    startedSpeakingAt: Math.min(began, ended),
    stoppedSpeakingAt: ended,
    transcriptionDelay: Math.max(0, understood - ended),
    endOfUtteranceDelay: Math.max(0, clock.now() - ended),
  };
}
