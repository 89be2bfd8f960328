/**
 * Makes sound that a detector of voices takes for speech: a buzzing larynx, a mouth that opens and closes, syllables with consonants. No
 * recording is involved.
 *
 * The figures are those with which Silero takes every window of it for speech, at 16, 24 and 48 kHz and behind Opus with 20 and 32 kbit/s,
 * from 0.6 to 6 s. A voice that is more even isn't far from that, and is missed for seconds now and then.
 */

import { goertzel } from './tones.ts';

interface SpeechOptions {
  readonly sampleRate: number;
  /** Length in milliseconds; speech begins and ends with voice. */
  readonly ms: number;
  /** Mark that it can be known by again, below {@link MARKS}: a soft tone above the voice carries it. None where absent. */
  readonly mark?: number;
}

/** Formants of a, e, i, o, u, in hertz. */
const vowels = [
  [730, 1090, 2440],
  [530, 1840, 2480],
  [270, 2290, 3010],
  [570, 840, 2410],
  [300, 870, 2240],
] as const;
/** Pitch of the voice, in hertz. */
const pitch = 140;
const syllableMs = 110;
/** Share of a syllable in which breath is louder than voice. */
const consonant = 0.09;
/** Share of one moment of the larynx that is left in the next. */
const softness = 0.38;
const breath = 0.023;
const loudness = 9_000;
/** Tones of marks, in hertz: above the voice, and below what Opus leaves out. */
const markTones = [4_000, 4_500, 5_000, 5_500, 6_000];
export const MARKS = markTones.length;
const markLoudness = 500;
/** Milliseconds of sound that are looked at together. */
const markWindowMs = 40;

/** Returns the sound in 16 bits, mono. It is the same each time. */
export function syntheticSpeech({ sampleRate, ms, mark }: SpeechOptions): Int16Array<ArrayBuffer> {
  const samples = new Float64Array(Math.round((sampleRate * ms) / 1000));
  const syllable = (sampleRate * syllableMs) / 1000;
  const resonators = [0, 1, 2].map(() => ({ y1: 0, y2: 0 }));
  let phase = 0;
  let larynx = 0;
  let openings = 0;
  for (let i = 0; i < samples.length; i += 1) {
    const index = Math.floor(i / syllable);
    const within = (i % syllable) / syllable;
    const from = vowels[(index * 3) % vowels.length]!;
    const to = vowels[(index * 3 + 3) % vowels.length]!;
    // The melody of a sentence: it falls, each syllable bends it, and no two openings are quite the same.
    const melody = 1.15 - (0.3 * i) / samples.length + 0.11 * Math.sin(2 * Math.PI * within + index) + 0.04 * noise(openings);
    phase += (pitch * melody) / sampleRate;
    const opens = phase >= 1;
    if (opens) {
      phase -= 1;
      openings += 1;
    }
    larynx = softness * larynx + (opens ? 1 : 0);
    const closed = within < consonant ? 1 - within / consonant : 0;
    const voice = larynx * (1 - 0.8 * closed) + breath * (1 + 6 * closed) * noise(i);
    let sound = 0;
    for (const [n, resonator] of resonators.entries()) {
      const frequency = from[n]! + (to[n]! - from[n]!) * within;
      const r = Math.exp((-Math.PI * 1.1 * (70 + 40 * n)) / sampleRate);
      const y = voice + 2 * r * Math.cos((2 * Math.PI * frequency) / sampleRate) * resonator.y1 - r * r * resonator.y2;
      resonator.y2 = resonator.y1;
      resonator.y1 = y;
      sound += y / (n + 1);
    }
    samples[i] = sound * (0.35 + 0.65 * Math.sin(Math.PI * within) ** 0.5);
  }
  const peak = samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 1e-9);
  const angle = mark === undefined ? 0 : (2 * Math.PI * markTones[mark]!) / sampleRate;
  return Int16Array.from(samples, (sample, i) => Math.round((sample / peak) * loudness + Math.sin(i * angle) * markLoudness));
}

/** Finds the marks of the speech in a sound, in their order, whatever has been lost of it and however often it was encoded. */
export function marksIn(samples: Int16Array, sampleRate: number): readonly number[] {
  const length = Math.round((sampleRate * markWindowMs) / 1000);
  /** Windows in which each mark is heard. */
  const seen = new Map<number, number[]>();
  for (let from = 0; from + length <= samples.length; from += length) {
    const window = samples.subarray(from, from + length);
    const powerOf = (frequency: number): number => goertzel(window, (2 * Math.PI * frequency) / sampleRate);
    // A mark counts by how far it stands out from what is beside it, which the voice has too.
    const marked = markTones.map((tone) => powerOf(tone) / (powerOf(tone - 250) + powerOf(tone + 250) + 1));
    const strongest = Math.max(...marked);
    const mark = marked.indexOf(strongest);
    if (strongest > 10) seen.set(mark, [...(seen.get(mark) ?? []), from]);
  }
  const windows = samples.length / length;
  // The middle decides: sound that is in the wrong place is to be seen.
  return [...seen]
    .filter(([, at]) => at.length > Math.max(2, windows / 20))
    .toSorted(([, a], [, b]) => a[a.length >> 1]! - b[b.length >> 1]!)
    .map(([mark]) => mark);
}

function noise(i: number): number {
  const x = Math.sin(i * 12.9898) * 43_758.5453;
  return (x - Math.floor(x)) * 2 - 1;
}
