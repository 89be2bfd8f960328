/** The audio sent into the room: speech or the microphone, and silence in between, since a user who sends nothing counts as gone. */
import { AudioFrame, AudioResampler, AudioSource } from '@livekit/rtc-node';

import type { Sound } from '../../platform/wav.ts';
import { CALLER_RATE } from './caller-rate.ts';

const FRAME_MS = 20;
const frameSamples = (CALLER_RATE * FRAME_MS) / 1_000;
/** Audio queued ahead, in milliseconds: little, so that speech is not late. */
const AHEAD_MS = 60;
/** Longest queue of microphone audio, in milliseconds; older audio is dropped. */
const MOST_HEARD_MS = 500;

interface Piece {
  readonly samples: Int16Array;
  at: number;
  readonly said: () => void;
}

export class OutgoingAudio {
  readonly source = new AudioSource(CALLER_RATE, 1, AHEAD_MS * 2);
  readonly #pieces: Piece[] = [];
  #heard = new Int16Array(0);
  #closed = false;
  #running: Promise<void> | undefined;

  /** Begins to send. What can't be sent because the media library fails counts as said: the end of the room ends the call. */
  open(): void {
    this.#running ??= this.#run().catch(() => this.#finish());
  }

  /** @returns when the last of it has been sent */
  say({ sampleRate, samples }: Sound): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    if (this.#closed) resolve();
    else this.#pieces.push({ samples: sampleRate === CALLER_RATE ? samples : resampled(samples, sampleRate), at: 0, said: resolve });
    return promise;
  }

  /** From a microphone. */
  hear(samples: Int16Array): void {
    const most = (CALLER_RATE * MOST_HEARD_MS) / 1_000;
    const all = new Int16Array(this.#heard.length + samples.length);
    all.set(this.#heard);
    all.set(samples, this.#heard.length);
    this.#heard = all.length > most ? all.subarray(all.length - most) : all;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
    this.#finish();
    await this.source.close();
  }

  #finish(): void {
    this.#closed = true;
    for (const piece of this.#pieces.splice(0)) piece.said();
  }

  async #run(): Promise<void> {
    const startedAt = performance.now();
    for (let sentMs = 0; !this.#closed; sentMs += FRAME_MS) {
      await this.source.captureFrame(new AudioFrame(this.#next(), CALLER_RATE, 1, frameSamples));
      const early = sentMs - AHEAD_MS - (performance.now() - startedAt);
      if (early > 0) await new Promise((resolve) => setTimeout(resolve, early));
    }
  }

  #next(): Int16Array {
    const frame = new Int16Array(frameSamples);
    let filled = 0;
    for (let piece = this.#pieces[0]; piece !== undefined && filled < frameSamples; piece = this.#pieces[0]) {
      const part = piece.samples.subarray(piece.at, piece.at + frameSamples - filled);
      frame.set(part, filled);
      filled += part.length;
      piece.at += part.length;
      if (piece.at < piece.samples.length) break;
      this.#pieces.shift();
      piece.said();
    }
    if (filled === 0 && this.#heard.length > 0) {
      frame.set(this.#heard.subarray(0, frameSamples));
      this.#heard = this.#heard.subarray(frameSamples);
    }
    return frame;
  }
}

function resampled(samples: Int16Array, sampleRate: number): Int16Array {
  const resampler = new AudioResampler(sampleRate, CALLER_RATE, 1);
  const frames = [...resampler.push(new AudioFrame(samples, sampleRate, 1, samples.length)), ...resampler.flush()];
  const all = new Int16Array(frames.reduce((sum, { data }) => sum + data.length, 0));
  let at = 0;
  for (const { data } of frames) {
    all.set(data, at);
    at += data.length;
  }
  resampler.close();
  return all;
}
