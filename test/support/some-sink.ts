/** Plays in the time of a clock, and remembers each sample that it has played. */
import type { AudioFrame } from '@livekit/rtc-node';

import { PLAYOUT_SAMPLE_RATE, type SoundSink } from '../../voice/sound/playout.ts';
import type { FakeClock } from './fake-clock.ts';

/** Samples in a millisecond. */
export const PER_MS = PLAYOUT_SAMPLE_RATE / 1_000;

export class SomeSink implements SoundSink {
  readonly played: number[] = [];
  readonly #clock: FakeClock;
  #queue: number[] = [];
  #at: number;

  constructor(clock: FakeClock) {
    this.#clock = clock;
    this.#at = clock.monotonic();
  }

  get queuedDuration(): number {
    this.#play();
    return this.#queue.length / PER_MS;
  }

  async captureFrame({ data }: AudioFrame): Promise<void> {
    this.#play();
    this.#queue.push(...data);
  }

  clearQueue(): void {
    this.#play();
    this.#queue = [];
  }

  #play(): void {
    const now = this.#clock.monotonic();
    this.played.push(...this.#queue.splice(0, Math.round((now - this.#at) * PER_MS)));
    this.#at = now;
  }
}
