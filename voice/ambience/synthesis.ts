/** Building blocks of background sounds: noise, filters and small noises, as samples between -1 and 1. Everything repeats at the end of the loop. */

export interface Loop {
  readonly sampleRate: number;
  /** Number of samples in the loop. */
  readonly length: number;
  readonly random: () => number;
}

/** Makes noise between two frequencies, in hertz, of root mean square 1. */
export function noise({ sampleRate, length, random }: Loop, band: { readonly from: number; readonly to: number }): Float32Array {
  // The end of the loop has to lead into its beginning: the filters run over the same noise twice, and the second round is taken.
  const source = Float32Array.from({ length }, () => random() * 2 - 1);
  const high = 1 - Math.exp((-2 * Math.PI * band.to) / sampleRate);
  const low = 1 - Math.exp((-2 * Math.PI * band.from) / sampleRate);
  const result = new Float32Array(length);
  let a = 0;
  let b = 0;
  let slow = 0;
  for (let round = 0; round < 2; round += 1)
    for (let i = 0; i < length; i += 1) {
      a += high * (source[i]! - a);
      b += high * (a - b);
      slow += low * (b - slow);
      result[i] = b - slow;
    }
  return normalised(result);
}

/** Follows a curve over the loop. @param level loudness by position in the loop, from 0 to 1; equal at both ends */
export function shaped(sound: Float32Array, level: (position: number) => number): Float32Array {
  return sound.map((sample, i) => sample * level(i / sound.length));
}

/** Follows a wave between 0 and 1, a whole number of times in the loop. */
export function swell(position: number, times: number, phase = 0): number {
  return 0.5 - 0.5 * Math.cos(2 * Math.PI * (position * times + phase));
}

/** Makes a hum with its overtones. @param frequency in hertz; a whole number of waves fits the loop */
export function hum({ sampleRate, length }: Loop, frequency: number, overtones: readonly number[]): Float32Array {
  const fitting = Math.round((frequency * length) / sampleRate) / (length / sampleRate);
  return normalised(
    Float32Array.from({ length }, (_, i) =>
      overtones.reduce((sum, level, n) => sum + level * Math.sin((2 * Math.PI * fitting * (n + 1) * i) / sampleRate), 0),
    ),
  );
}

/** A short sound; `seconds` runs from 0 to its end. */
export type Note = (seconds: number) => number;

/** Places a sound at times of the loop, in seconds; a sound that reaches beyond the end goes on at the beginning. */
export function placed(
  { sampleRate, length }: Loop,
  times: readonly number[],
  note: (index: number) => { readonly lasts: number; readonly at: Note },
) {
  const result = new Float32Array(length);
  for (const [index, time] of times.entries()) {
    const { lasts, at } = note(index);
    const start = Math.round(time * sampleRate);
    const samples = Math.round(lasts * sampleRate);
    for (let i = 0; i < samples; i += 1) {
      // A soft edge keeps both ends from clicking.
      const edge = Math.min(1, Math.min(i, samples - i) / (sampleRate * 0.003));
      result[(start + i) % length]! += edge * at(i / sampleRate);
    }
  }
  return result;
}

/** Returns times of `count` sounds, in seconds, spread over the loop with some disorder. */
export function spread({ sampleRate, length, random }: Loop, count: number): readonly number[] {
  const seconds = length / sampleRate;
  return Array.from({ length: count }, (_, i) => ((i + 0.15 + 0.7 * random()) / count) * seconds);
}

export function mixed(parts: readonly (readonly [level: number, sound: Float32Array])[]): Float32Array {
  const [first] = parts;
  return Float32Array.from({ length: first?.[1].length ?? 0 }, (_, i) => parts.reduce((sum, [level, sound]) => sum + level * sound[i]!, 0));
}

function normalised(sound: Float32Array): Float32Array {
  const power = Math.sqrt(sound.reduce((sum, sample) => sum + sample * sample, 0) / sound.length) || 1;
  return sound.map((sample) => sample / power);
}
