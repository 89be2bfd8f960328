/** Makes tones in place of speech: the frequency alone identifies what is heard. Sound has 16 bits and one channel. */

/** Returns a frequency in Hz; the same for the same text, on a grid of 50 Hz from 300 to 2,250, so that most texts differ. */
export function frequencyOf(text: string): number {
  let hash = 2166136261;
  for (const character of text) hash = Math.imul(hash ^ character.codePointAt(0)!, 16777619) >>> 0;
  return 300 + (hash % 40) * 50;
}

/** Volume of what is said, 0 … 1. */
const VOLUME = 0.3;

export function tone(options: {
  readonly frequency: number;
  readonly seconds: number;
  readonly sampleRate: number;
  readonly volume?: number;
}): Int16Array {
  const { frequency, seconds, sampleRate, volume = VOLUME } = options;
  const step = (2 * Math.PI * frequency) / sampleRate;
  return Int16Array.from({ length: Math.round(seconds * sampleRate) }, (_, index) => Math.round(Math.sin(index * step) * volume * 32767));
}

/** Frequencies in Hz that say which part of a sound is heard: above the tones of {@link frequencyOf}, and below what Opus leaves out. */
const partTones = Array.from({ length: 20 }, (_, part) => 3_000 + 200 * part);
/** Length of a part, in milliseconds. */
export const PART_MS = 200;

/** Adds a softer tone to each part of a sound, by which it can be told apart. Parts after the 20th have none. */
export function markParts(samples: Int16Array, sampleRate: number): Int16Array {
  const length = (sampleRate * PART_MS) / 1000;
  return samples.map((sample, index) => {
    const frequency = partTones[Math.floor(index / length)];
    return frequency === undefined ? sample : sample + Math.round(Math.sin((2 * Math.PI * frequency * index) / sampleRate) * 3_000);
  });
}

/** Returns which part of a sound of {@link markParts} is heard, from 0; undefined where none is. */
export function heardPart(samples: Int16Array, sampleRate: number): number | undefined {
  const powers = partTones.map((frequency) => goertzel(samples, (2 * Math.PI * frequency) / sampleRate));
  const most = Math.max(...powers);
  const others = powers.reduce((sum, power) => sum + power, -most) / (powers.length - 1);
  return most > 10 * others ? powers.indexOf(most) : undefined;
}

/** Returns the loudness, 0 … 1. */
export function loudness(samples: Int16Array): number {
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  return samples.length === 0 ? 0 : Math.sqrt(sum / samples.length) / 32768;
}

/** A tenth of a second of a recording in which something is heard. */
export interface HeardTone {
  /** Time in seconds. */
  readonly at: number;
  readonly frequency: number;
  /** Loudness, 0 … 1. */
  readonly loudness: number;
}

export function heardTones(samples: Int16Array, sampleRate: number): readonly HeardTone[] {
  const step = sampleRate / 10;
  return Array.from({ length: Math.floor(samples.length / step) }, (_, index) => {
    const window = samples.subarray(index * step, (index + 1) * step);
    return { at: index / 10, frequency: heardFrequency(window, sampleRate) ?? 0, loudness: loudness(window) };
  }).filter(({ frequency }) => frequency !== 0);
}

/** Returns how many seconds tones of {@link tone} are heard in all: a busy machine plays them with holes, which are left out. */
export const secondsOfTones = (tones: readonly HeardTone[]): number =>
  tones.reduce((sum, { loudness: heard }) => sum + ((heard * Math.SQRT2) / VOLUME) ** 2, 0) / 10;

/** Returns the strongest frequency on the grid of {@link frequencyOf}; undefined for silence. */
export function heardFrequency(samples: Int16Array, sampleRate: number): number | undefined {
  if (loudness(samples) < 0.01) return undefined;
  let best = { frequency: 0, power: 0 };
  for (let frequency = 300; frequency <= 2250; frequency += 50) {
    const power = goertzel(samples, (2 * Math.PI * frequency) / sampleRate);
    if (power > best.power) best = { frequency, power };
  }
  return best.frequency;
}

/** Returns how strong a tone is. @param angle angle of a sample, in radians */
export function goertzel(samples: Int16Array, angle: number): number {
  const coefficient = 2 * Math.cos(angle);
  let before = 0;
  let last = 0;
  for (const sample of samples) {
    const next = sample + coefficient * last - before;
    before = last;
    last = next;
  }
  return before * before + last * last - coefficient * before * last;
}

export const bytesOf = (samples: Int16Array): Buffer => Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);
