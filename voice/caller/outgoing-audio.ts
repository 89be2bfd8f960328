/** The audio sent into the room: speech or the microphone. In between the media library sends silence: a user who sends nothing counts as gone. */
import { AudioFrame, AudioResampler, AudioSource } from '@livekit/rtc-node';

import { joinSamples } from '../sound/join-samples.ts';
import type { Sound } from '../../platform/wav.ts';
import { CALLER_RATE } from './caller-rate.ts';

/** The media library's queue, in milliseconds of sound; longer speech goes in pieces. */
const QUEUE_MS = 10_000;
/** Longest queue of microphone audio, in milliseconds; audio beyond it is dropped. */
const MOST_HEARD_MS = 500;

export class OutgoingAudio {
  readonly source = new AudioSource(CALLER_RATE, 1, QUEUE_MS);
  readonly #closed = Promise.withResolvers<void>();
  #said: Promise<void> = Promise.resolve();

  /**
   * Hands all of it to the media library's own thread: piece by piece it would have holes whenever this process is busy, and a hole ends a
   * turn. Audio that the media library fails to send counts as said: the end of the room ends the call.
   * @returns when the last of it has been sent, or this is closed
   */
  say(sound: Sound): Promise<void> {
    this.#said = this.#said.then(() => this.#send(sound)).then(() => this.source.waitForPlayout());
    return Promise.race([this.#said, this.#closed.promise]);
  }

  /** Sends audio of a microphone. */
  hear(samples: Int16Array): void {
    if (this.source.queuedDuration < MOST_HEARD_MS) void this.#send({ sampleRate: CALLER_RATE, samples });
  }

  async close(): Promise<void> {
    this.#closed.resolve();
    await this.source.close();
  }

  async #send({ sampleRate, samples }: Sound): Promise<void> {
    if (samples.length === 0) return;
    // The frame has a copy: of a view the library would send the beginning of its buffer.
    const frame = new AudioFrame(samples.slice(), sampleRate, 1, samples.length);
    await this.source.captureFrame(sampleRate === CALLER_RATE ? frame : resampled(frame)).catch(() => undefined);
  }
}

function resampled(frame: AudioFrame): AudioFrame {
  const resampler = new AudioResampler(frame.sampleRate, CALLER_RATE, 1);
  const samples = joinSamples([...resampler.push(frame), ...resampler.flush()].map(({ data }) => data));
  resampler.close();
  return new AudioFrame(samples, CALLER_RATE, 1, samples.length);
}
