/** A VAD that reports each pause early, with the length of the speech before it: by its samples, not by when a busy machine looked at them. */
import { inference, VADEventType, type VADEvent } from '@livekit/agents';
import type { AudioFrame } from '@livekit/rtc-node';

import { msOf } from '../join-frames.ts';

/** Of one window of the model, in milliseconds. */
const WINDOW_MS = 32;
/** Closed lips are quiet for less than this, in milliseconds. */
const PAUSE_MS = 4 * WINDOW_MS;

type VadStream = ReturnType<inference.VAD['stream']>;
/** Its type hides these. */
interface Insides {
  sendVADEvent: (event: VADEvent) => boolean;
  readonly inputWriter: { write: (frame: AudioFrame | symbol) => Promise<void> };
}

export interface MeasuredVadOptions {
  /** In milliseconds, as those of {@link inference.VAD}. */
  readonly minSpeechDuration: number;
  readonly minSilenceDuration: number;
  /** Also when the user goes on after a pause. */
  readonly onSpeaking?: () => void;
  /**
   * Before the silence is long enough to be reported; the user may go on.
   * @param ms length of the speech so far, without the silence after it
   */
  readonly onPause: (ms: number) => void;
}

export class MeasuredVad extends inference.VAD {
  readonly #onPause: (ms: number) => void;
  readonly #onSpeaking: (() => void) | undefined;
  #cameMs = 0;
  #readMs = 0;

  constructor({ onPause, onSpeaking, ...durations }: MeasuredVadOptions) {
    super({ model: 'silero', ...durations });
    this.#onPause = onPause;
    this.#onSpeaking = onSpeaking;
  }

  /**
   * Sound that has come and is not read yet, in milliseconds. After a stall of the process all of it comes at once, and each window takes a turn of
   * the event loop.
   */
  get unreadMs(): number {
    return this.#cameMs - this.#readMs;
  }

  /** @returns whether some of the sound that has come by now is still to be read */
  reading(): () => boolean {
    const cameMs = this.#cameMs;
    return () => cameMs - this.#readMs >= WINDOW_MS;
  }

  override stream(): VadStream {
    const stream = super.stream();
    const sender = stream as unknown as Insides;
    const { inputWriter } = sender;
    const write = inputWriter.write.bind(inputWriter);
    inputWriter.write = (frame) => {
      if (typeof frame !== 'symbol') this.#cameMs += msOf(frame);
      return write(frame);
    };
    const send = sender.sendVADEvent.bind(stream);
    let paused = true;
    sender.sendVADEvent = (event) => {
      if (event.type === VADEventType.INFERENCE_DONE) this.#readMs += WINDOW_MS;
      const { speaking, speechDuration, rawAccumulatedSilence } = event;
      // Without the window that the event is about.
      const silence = rawAccumulatedSilence === 0 ? 0 : rawAccumulatedSilence + WINDOW_MS;
      if (!paused && (!speaking || silence >= PAUSE_MS)) {
        paused = true;
        this.#onPause(speaking ? Math.max(0, speechDuration - silence) : speechDuration);
      } else if (paused && speaking && silence === 0) {
        paused = false;
        this.#onSpeaking?.();
      }
      // The library subtracts this from now for the times at which speech began and ended.
      const inferenceDuration = event.inferenceDuration + this.unreadMs;
      return send(event.type === VADEventType.INFERENCE_DONE ? event : { ...event, inferenceDuration });
    };
    return stream;
  }
}
