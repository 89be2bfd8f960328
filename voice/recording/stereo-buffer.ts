/**
 * Keeps both sides of a recording, from when their sound is in its place until it is written: left and right in turn, silent where nothing
 * was heard.
 */
import { RECORDING_RATE } from './encoder/rate.ts';
import { positionOf } from './timeline.ts';

/** The tone of broadcasters: heard as what it is, and quieter than words. */
export const TONE_HZ = 1_000;
const TONE_AMPLITUDE = 4_000;

/** First size of the buffer, in milliseconds: longer than sound is usually waited for. */
const USUAL_MS = 4_000;

/**
 * A buffer in one memory for the length of a call: pieces that live for seconds would make the process collect garbage every few seconds.
 */
export class StereoBuffer {
  #samples = new Int16Array(2 * positionOf(USUAL_MS));
  #from = 0;

  /** Position of the sample that is taken next. */
  get from(): number {
    return this.#from;
  }

  /** Puts sound into its place. @param side 0 is left @param start position of the first sample, not before {@link from} */
  put(side: 0 | 1, samples: Int16Array, start: number): void {
    const first = 2 * (start - this.#from) + side;
    this.#reserve(first + 2 * samples.length);
    for (let at = 0; at < samples.length; at += 1) this.#samples[first + 2 * at] = samples[at]!;
  }

  /** Puts a tone in the place of one side's sound. @param until position behind which nothing is taken yet */
  cover(side: 0 | 1, start: number, end: number, until: number): void {
    const last = Math.min(end, until);
    this.#reserve(2 * (until - this.#from));
    for (let at = Math.max(start, this.#from); at < last; at += 1)
      this.#samples[2 * (at - this.#from) + side] = TONE_AMPLITUDE * Math.sin((2 * Math.PI * TONE_HZ * at) / RECORDING_RATE);
  }

  /** Takes the samples before a position. */
  take(until: number): Int16Array<ArrayBuffer> {
    const length = 2 * (until - this.#from);
    this.#reserve(length);
    const taken = this.#samples.slice(0, length);
    this.#samples.copyWithin(0, length);
    this.#samples.fill(0, this.#samples.length - length);
    this.#from = until;
    return taken;
  }

  #reserve(length: number): void {
    if (length <= this.#samples.length) return;
    const longer = new Int16Array(2 * length);
    longer.set(this.#samples);
    this.#samples = longer;
  }
}
