/** Keeps one side of a recording, from when its sound is heard until it is written: at the recording's rate, in its place. */
import { AudioFrame, AudioResampler } from '@livekit/rtc-node';

import type { Sound } from '../../platform/wav.ts';
import { RECORDING_RATE } from './encoder/rate.ts';
import { endOf, place, type Run } from './timeline.ts';

/** Sound that the resampler gets at once, in milliseconds: most of its cost are the calls into the media library. */
const CHUNK_MS = 1_000;

export class Channel {
  readonly #put: (samples: Int16Array, start: number) => void;
  #run: Run | undefined;
  /** Number of the run's samples in their place. */
  #placed = 0;
  /** Position where the next run may begin. */
  #free = 0;
  /** Samples of the run that are not resampled yet: the first `#filled`. */
  #chunk = new Int16Array();
  #filled = 0;
  #resampler: AudioResampler | undefined;

  /** Creates a channel. @param put takes sound at the recording's rate to its position */
  constructor(put: (samples: Int16Array, start: number) => void) {
    this.#put = put;
  }

  /** Adds sound. @param atMs when its first sample was heard, since the recording's beginning */
  add({ samples, sampleRate }: Sound, atMs: number): void {
    const channel = this.#run === undefined ? { end: this.#free, open: false } : { end: endOf(this.#run), open: true };
    const { start, lost } = place({ atMs, sampleRate, length: samples.length }, channel);
    if (lost === samples.length) return;
    if (this.#run === undefined || start !== channel.end || sampleRate !== this.#run.sampleRate) this.#begin(start, sampleRate);
    this.#gather(samples.subarray(lost));
  }

  /**
   * Resamples the sound before a position, and ends the runs that end there.
   * @returns where its sound is complete up to: there, or shortly before
   */
  settle(until: number): number {
    const run = this.#run;
    if (run === undefined) return until;
    if (endOf(run) <= until) {
      this.end();
      return until;
    }
    if (run.start + this.#placed < until) this.#resample();
    return Math.min(until, run.start + this.#placed);
  }

  /** Ends the run: no later sound continues it. */
  end(): void {
    const run = this.#run;
    if (run === undefined) return;
    this.#resample();
    for (const { data } of this.#resampler?.flush() ?? []) this.#keep(data);
    this.#free = run.start + this.#placed;
    this.#run = undefined;
  }

  /** Releases the sound before a position, which is written: later sound begins behind it. */
  release(until: number): void {
    this.#free = Math.max(this.#free, until);
  }

  close(): void {
    this.#resampler?.close();
    this.#resampler = undefined;
    this.#run = undefined;
  }

  #begin(start: number, sampleRate: number): void {
    this.end();
    if (sampleRate !== this.#resampler?.inputRate) {
      this.#resampler?.close();
      this.#resampler = sampleRate === RECORDING_RATE ? undefined : new AudioResampler(sampleRate, RECORDING_RATE, 1);
      // The chunk is never empty: the media library refuses a rate of 0.
      this.#chunk = new Int16Array(Math.max(1, Math.ceil((sampleRate * CHUNK_MS) / 1_000)));
    }
    this.#run = { start: Math.max(this.#free, Math.round(start)), sampleRate, length: 0 };
    this.#placed = 0;
  }

  #gather(samples: Int16Array): void {
    this.#run = { ...this.#run!, length: this.#run!.length + samples.length };
    if (this.#resampler === undefined) return this.#keep(samples);
    for (let at = 0; at < samples.length;) {
      const part = samples.subarray(at, at + this.#chunk.length - this.#filled);
      this.#chunk.set(part, this.#filled);
      this.#filled += part.length;
      at += part.length;
      if (this.#filled === this.#chunk.length) this.#resample();
    }
  }

  #resample(): void {
    const run = this.#run;
    if (run === undefined || this.#filled === 0) return;
    // The frame has a copy: of a view the media library would read the whole buffer.
    const samples = this.#chunk.slice(0, this.#filled);
    this.#filled = 0;
    for (const { data } of this.#resampler!.push(new AudioFrame(samples, run.sampleRate, 1, samples.length))) this.#keep(data);
  }

  #keep(samples: Int16Array): void {
    this.#put(samples, this.#run!.start + this.#placed);
    this.#placed += samples.length;
  }
}
