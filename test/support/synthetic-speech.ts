/** Something that a detector of voices takes for speech: a buzzing larynx, a mouth that opens and closes, syllables. Nobody said it. */

export interface SpeechOptions {
  readonly sampleRate: number;
  /** In milliseconds; begins and ends with voice. */
  readonly ms: number;
  /** Of the voice, in hertz. */
  readonly pitch?: number;
}

/** Formants of a, e, i, o, u, in hertz. */
const vowels = [
  [730, 1090, 2440],
  [530, 1840, 2480],
  [270, 2290, 3010],
  [570, 840, 2410],
  [300, 870, 2240],
] as const;
const syllableMs = 180;
const loudness = 9_000;

/** 16 bit, mono. The same each time. */
export function syntheticSpeech({ sampleRate, ms, pitch = 125 }: SpeechOptions): Int16Array<ArrayBuffer> {
  const samples = new Float64Array(Math.round((sampleRate * ms) / 1000));
  const syllable = (sampleRate * syllableMs) / 1000;
  const resonators = [0, 1, 2].map(() => ({ y1: 0, y2: 0 }));
  let phase = 0;
  for (let i = 0; i < samples.length; i += 1) {
    const index = Math.floor(i / syllable);
    const within = (i % syllable) / syllable;
    const from = vowels[(index * 3) % vowels.length]!;
    const to = vowels[(index * 3 + 3) % vowels.length]!;
    // The melody of a sentence: it falls, and each syllable bends it.
    phase += (pitch * (1.1 - (0.25 * i) / samples.length + 0.06 * Math.sin(2 * Math.PI * within))) / sampleRate;
    const opened = phase >= 1;
    if (opened) phase -= 1;
    const voice = (opened ? 1 : 0) + 0.02 * noise(i);
    let sound = 0;
    for (const [n, resonator] of resonators.entries()) {
      const frequency = from[n]! + (to[n]! - from[n]!) * within;
      const r = Math.exp((-Math.PI * (70 + 40 * n)) / sampleRate);
      const y = voice + 2 * r * Math.cos((2 * Math.PI * frequency) / sampleRate) * resonator.y1 - r * r * resonator.y2;
      resonator.y2 = resonator.y1;
      resonator.y1 = y;
      sound += y / (n + 1);
    }
    samples[i] = sound * (0.35 + 0.65 * Math.sin(Math.PI * within) ** 0.5);
  }
  const peak = samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 1e-9);
  return Int16Array.from(samples, (sample) => Math.round((sample / peak) * loudness));
}

function noise(i: number): number {
  const x = Math.sin(i * 12.9898) * 43_758.5453;
  return (x - Math.floor(x)) * 2 - 1;
}
