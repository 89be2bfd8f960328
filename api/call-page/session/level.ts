/** Measures how loud a side is, for its meter. */

/** Below this many decibels a microphone hears only its own noise. */
const QUIETEST_DB = -60;

/** Returns the root mean square of the samples. */
export function rms(samples: ArrayLike<number>): number {
  let sum = 0;
  for (let index = 0; index < samples.length; index += 1) sum += (samples[index] ?? 0) ** 2;
  return Math.sqrt(sum / Math.max(1, samples.length));
}

/** @param volume root mean square of the samples, 0 to 1 @returns 0 to 100, even in decibels, as loudness is heard */
export function levelOf(volume: number): number {
  if (!(volume > 0)) return 0;
  const decibels = 20 * Math.log10(Math.min(1, volume));
  return Math.max(0, Math.round((1 - decibels / QUIETEST_DB) * 100));
}

/** Returns the last `most` levels, newest last. */
export function withLevel(levels: readonly number[], level: number, most: number): readonly number[] {
  return [...levels, level].slice(-most);
}
