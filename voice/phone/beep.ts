/** Hears the tone after which a mailbox records: one frequency, for longer than any voice holds it. */

/** Sample rate of the windows, in Hz. */
const SAMPLE_RATE = 16_000;
/** Frequencies of tones that mailboxes have, in Hz. */
const LOWEST = 350;
const HIGHEST = 2_600;
/** Share of the sound that is at one frequency: voices have overtones. */
const PURE = 0.85;
/** Quietest tone, as the root mean square of samples. */
const QUIETEST = 200;
/** Fewest windows that have the same frequency, some 160 ms. */
const FEWEST_WINDOWS = 5;

export class BeepDetector {
  /** Frequency of the tone under way, by its place in the spectrum, and the number of its windows. */
  #tone: { bin: number; windows: number } | undefined;

  /** Hears the next window. @param window 32 ms at 16 kHz. @returns true when a tone has just ended */
  hear(window: Int16Array): boolean {
    const bin = toneIn(window);
    const before = this.#tone;
    const goesOn = bin !== undefined && before !== undefined && Math.abs(bin - before.bin) <= 1;
    this.#tone = bin === undefined ? undefined : { bin, windows: goesOn ? before.windows + 1 : 1 };
    return !goesOn && before !== undefined && before.windows >= FEWEST_WINDOWS;
  }
}

/** Returns the place of the only frequency in a window; undefined where there are several, or none. */
function toneIn(window: Int16Array): number | undefined {
  const length = window.length;
  // Hann's window keeps a tone within two places of the spectrum, wherever its frequency lies between them.
  const shaped = Float64Array.from(window, (sample, n) => sample * (0.5 - 0.5 * Math.cos((2 * Math.PI * n) / length)));
  const energy = shaped.reduce((sum, sample) => sum + sample * sample, 0);
  if (Math.sqrt(energy / length) < QUIETEST) return undefined;
  const first = Math.round((LOWEST * length) / SAMPLE_RATE);
  const powers = Array.from({ length: Math.round((HIGHEST * length) / SAMPLE_RATE) - first }, (_, at) => powerAt(shaped, first + at));
  const strongest = powers.indexOf(Math.max(...powers));
  const around = powers.slice(Math.max(0, strongest - 2), strongest + 3).reduce((sum, power) => sum + power, 0);
  return (2 * around) / length >= PURE * energy ? first + strongest : undefined;
}

/** Returns the power of one frequency, by Goertzel's algorithm. */
function powerAt(samples: Float64Array, bin: number): number {
  const coefficient = 2 * Math.cos((2 * Math.PI * bin) / samples.length);
  let [before, last] = [0, 0];
  for (const sample of samples) [before, last] = [last, sample + coefficient * last - before];
  return last * last + before * before - coefficient * last * before;
}
