/** Records a call: the user on the left, the agent on the right, each sound at the time at which it was heard. */
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';

import { withTimeout, type Clock, type Timer } from '../../platform/clock.ts';
import type { Sound } from '../../platform/wav.ts';
import { Channel } from './channel.ts';
import type { SoundEncoder } from './encoder/index.ts';
import type { SoundGuard } from './sound-guard.ts';
import { StereoBuffer } from './stereo-buffer.ts';
import { positionOf } from './timeline.ts';

/** Longest delay of sound, in milliseconds: then its time is written as silence. */
const LATE_MS = 2_000;
const WRITE_INTERVAL_MS = 1_000;
/** Longest wait for the model's word on the last sound, in milliseconds. */
const JUDGED_WITHIN_MS = 5_000;

export interface CallRecorderOptions {
  /** Path of the Ogg Opus file. */
  readonly file: string;
  readonly encoder: Pick<SoundEncoder, 'open'>;
  /** Says which sound may be written; absent where all may. */
  readonly guard?: SoundGuard | undefined;
  readonly clock: Clock;
  /** Called once, at the moment from which the recording counts. */
  readonly onStart: () => void;
}

export class CallRecorder {
  readonly #clock: Clock;
  readonly #guard: SoundGuard | undefined;
  readonly #sound = new StereoBuffer();
  readonly #left = new Channel((samples, start) => this.#sound.put(0, samples, start));
  readonly #right = new Channel((samples, start) => this.#sound.put(1, samples, start));
  readonly #output: Writable;
  readonly #complete: Promise<void>;
  /** Time at which the recording began: milliseconds since the epoch, and by the clock that never jumps. */
  readonly #origin: { readonly now: number; readonly monotonic: number };
  #timer: Timer | undefined;
  /** Time before which no sound is waited for, in milliseconds from the beginning. */
  #limitMs = -LATE_MS;
  #closing: Promise<void> | undefined;

  /** Records from now on. */
  constructor({ file, encoder, guard, clock, onStart }: CallRecorderOptions) {
    this.#clock = clock;
    this.#guard = guard;
    this.#origin = { now: clock.now(), monotonic: clock.monotonic() };
    onStart();
    this.#output = encoder.open(file);
    this.#complete = finished(this.#output);
    // `close` throws the failure.
    this.#complete.catch(() => this.#stop());
    this.#writeLater();
  }

  /** Records sound of the user. @param sound one channel @param at when its first sample was heard, in milliseconds since the epoch */
  user(sound: Sound, at: number): void {
    this.#record(() => this.#left.add(sound, at - this.#origin.now));
  }

  /** Records sound of the agent. @param sound one channel @param at when its first sample was heard, in milliseconds since the epoch */
  agent(sound: Sound, at: number): void {
    this.#record(() => this.#right.add(sound, at - this.#origin.now));
  }

  /** Writes the sound until now. Resolves when the file is complete. @throws the encoder's failure, or the resampler's */
  close(): Promise<void> {
    this.#closing ??= this.#finish();
    return this.#closing;
  }

  async #finish(): Promise<void> {
    if (this.#guard !== undefined) {
      await withTimeout(this.#clock, JUDGED_WITHIN_MS, this.#guard.settled());
      this.#guard.close();
    }
    this.#record(() => {
      this.#limitMs = this.#elapsedMs();
      this.#left.end();
      this.#right.end();
      this.#write();
    });
    this.#stop();
    this.#output.end();
    await this.#complete;
  }

  /** Runs work whose failure ends the recording, not the call. */
  #record(work: () => void): void {
    if (this.#timer === undefined) return;
    try {
      work();
    } catch (error) {
      this.#stop();
      this.#output.destroy(error as Error);
    }
  }

  #stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#left.close();
    this.#right.close();
  }

  #writeLater(): void {
    this.#timer = this.#clock.after(WRITE_INTERVAL_MS, () => {
      this.#writeLater();
      // After a stall it catches up step by step: sound that came meanwhile has not been read yet.
      this.#limitMs = Math.min(this.#elapsedMs() - LATE_MS, this.#limitMs + 2 * WRITE_INTERVAL_MS);
      this.#record(() => this.#write());
    });
  }

  #elapsedMs(): number {
    return this.#clock.monotonic() - this.#origin.monotonic;
  }

  /** Returns up to when the sound is judged, in milliseconds from the beginning. */
  #judgedMs(): number {
    if (this.#guard === undefined) return Infinity;
    const now = this.#clock.now();
    return this.#guard.judgedUntil(now) === now ? Infinity : this.#guard.judgedUntil(now) - this.#origin.now;
  }

  #positionAt(time: number): number {
    return Math.round(positionOf(time - this.#origin.now));
  }

  #write(): void {
    const limit = Math.floor(positionOf(Math.min(this.#limitMs, this.#judgedMs())));
    const until = Math.min(this.#left.settle(limit), this.#right.settle(limit));
    if (until <= this.#sound.from) return;
    for (const { side, from, to } of this.#guard?.covered() ?? [])
      this.#sound.cover(side, this.#positionAt(from), this.#positionAt(to), until);
    this.#output.write(new Uint8Array(this.#sound.take(until).buffer));
    this.#left.release(until);
    this.#right.release(until);
  }
}
