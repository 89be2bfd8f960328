/** Background sounds, computed: the same each time, and free of recordings and their licences. */
import type { AgentRevisionConfig } from '../../crds/agent-revision.ts';
import { mulberry } from '../../platform/mulberry.ts';
import { hum, mixed, noise, placed, shaped, spread, swell, type Loop, type Note } from './synthesis.ts';

export type Place = NonNullable<AgentRevisionConfig['agent']['ambientSound']['source']>;

/** Samples per second; nothing in these places is brighter. */
export const LOOP_SAMPLE_RATE = 16_000;
/** Length of a loop in seconds; long enough not to be noticed as a loop. */
const LOOP_SECONDS = 12;
/** Loudness of a place at volume 1, as a share of full scale: well below speech. */
const LOUDNESS = 0.02;

const PLACES: Readonly<Record<Place, (loop: Loop) => Float32Array>> = {
  // Air conditioning, typing, somebody far away on the telephone.
  Office: (loop) =>
    mixed([
      [0.6, noise(loop, { from: 200, to: 1300 })],
      [1.1, placed(loop, typing(loop, 6, 9), () => click(loop, 0.012, 3))],
      [0.25, murmur(loop, 2)],
    ]),
  // Talk at many tables, cups, a machine that hisses.
  Cafe: (loop) =>
    mixed([
      [0.9, murmur(loop, 6)],
      [0.8, placed(loop, spread(loop, 9), () => clink(loop, 2600))],
      [0.9, shaped(noise(loop, { from: 3000, to: 7500 }), (p) => burst(p, 0.55, 0.12))],
    ]),
  // More talk, plates and cutlery, no machine.
  Restaurant: (loop) =>
    mixed([
      [1, murmur(loop, 8)],
      [0.9, placed(loop, spread(loop, 22), () => clink(loop, 1700))],
      [0.3, noise(loop, { from: 80, to: 250 })],
    ]),
  // Wind in leaves, and birds.
  Park: (loop) =>
    mixed([
      [0.5, shaped(noise(loop, { from: 1200, to: 5000 }), (p) => 0.35 + 0.65 * swell(p, 2))],
      [1.6, placed(loop, spread(loop, 14), (index) => chirp(loop, index))],
    ]),
  // Cars that pass, one after the other.
  Street: (loop) =>
    mixed([
      [0.6, noise(loop, { from: 40, to: 300 })],
      [1.3, shaped(noise(loop, { from: 150, to: 1400 }), (p) => 0.05 + burst(p, 0.2, 0.16) + burst(p, 0.52, 0.1) + burst(p, 0.8, 0.2))],
      [0.5, placed(loop, [7.3], () => horn())],
    ]),
  // A refrigerator, and a clock on the wall.
  Home: (loop) =>
    mixed([
      [0.55, hum(loop, 100, [1, 0.5, 0.35, 0.1])],
      [0.15, noise(loop, { from: 100, to: 600 })],
      [0.8, placed(loop, every(loop, 1), (index) => click(loop, 0.006, index % 2 === 0 ? 6 : 4.5))],
    ]),
  // Nearly nothing: pages, a step.
  Library: (loop) =>
    mixed([
      [0.25, noise(loop, { from: 100, to: 500 })],
      [0.7, shaped(noise(loop, { from: 2500, to: 7500 }), (p) => burst(p, 0.18, 0.03) + burst(p, 0.46, 0.04) + burst(p, 0.83, 0.03))],
      [0.9, placed(loop, [4.1, 4.75, 5.4, 6.05], () => thump(70))],
    ]),
  // A hall: many people, rolling cases, a gong before an announcement.
  Airport: (loop) =>
    mixed([
      [0.7, murmur(loop, 7)],
      [0.8, noise(loop, { from: 60, to: 220 })],
      [0.35, shaped(noise(loop, { from: 700, to: 2500 }), (p) => burst(p, 0.3, 0.15) * (0.5 + swell(p, 240)))],
      [1.5, placed(loop, [1.5, 2.2, 2.9], (index) => gong([784, 659, 523][index] ?? 523))],
    ]),
  // Wheels on rails, brakes, a whistle.
  TrainStation: (loop) =>
    mixed([
      [1.1, shaped(noise(loop, { from: 30, to: 160 }), (p) => 0.4 + 0.6 * swell(p, 1))],
      [0.9, placed(loop, rails(loop), () => thump(110))],
      [0.35, shaped(noise(loop, { from: 2200, to: 3200 }), (p) => burst(p, 0.72, 0.08))],
      [0.5, placed(loop, [10.2], () => whistle())],
      [0.3, murmur(loop, 5)],
    ]),
  // Waves that come and go, and gulls.
  Beach: (loop) =>
    mixed([
      [1.1, shaped(noise(loop, { from: 250, to: 3500 }), (p) => 0.08 + swell(p, 2) ** 2)],
      [0.5, shaped(noise(loop, { from: 60, to: 250 }), (p) => 0.3 + 0.7 * swell(p, 2, 0.15))],
      [0.7, placed(loop, [2.4, 2.9, 8.7], () => gull())],
    ]),
};

/**
 * Computes one round of a place, to be repeated without a pause: 16 bit, mono, {@link LOOP_SAMPLE_RATE}.
 * @param volume 1 is as loud as the place is meant to be
 */
export function soundLoop(place: Place, volume = 1): Int16Array<ArrayBuffer> {
  const seed = Object.keys(PLACES).indexOf(place) + 1;
  const sound = PLACES[place]({ sampleRate: LOOP_SAMPLE_RATE, length: LOOP_SAMPLE_RATE * LOOP_SECONDS, random: mulberry(seed) });
  const samples = new Int16Array(sound.length);
  for (let i = 0; i < samples.length; i += 1) samples[i] = Math.round(32_767 * Math.tanh(volume * LOUDNESS * sound[i]!));
  return samples;
}

/** Makes unintelligible voices: only the rhythm of speech is left. */
function murmur(loop: Loop, voices: number): Float32Array {
  const parts = Array.from({ length: voices }, (_, n): readonly [number, Float32Array] => {
    const pitch = 350 + 450 * loop.random();
    const syllables = 38 + Math.floor(24 * loop.random());
    const sentences = 2 + (n % 3);
    const phase = loop.random();
    return [
      1 / Math.sqrt(voices),
      shaped(noise(loop, { from: pitch, to: pitch * 2 }), (p) => swell(p, syllables, phase) * swell(p, sentences, phase * 3)),
    ];
  });
  return mixed(parts);
}

/** Rises from 0 to 1 and falls back around a position of the loop. */
function burst(position: number, around: number, width: number): number {
  const away = Math.abs(((position - around + 1.5) % 1) - 0.5) / width;
  return away >= 1 ? 0 : (1 - away * away) ** 2;
}

function every({ sampleRate, length }: Loop, seconds: number): readonly number[] {
  return Array.from({ length: Math.floor(length / sampleRate / seconds) }, (_, i) => i * seconds);
}

function typing(loop: Loop, words: number, letters: number): readonly number[] {
  return spread(loop, words).flatMap((start) => Array.from({ length: letters }, (_, i) => start + i * 0.11 + 0.04 * loop.random()));
}

/** Returns the times of the wheels' beats: two axles, and two more. */
function rails(loop: Loop): readonly number[] {
  return every(loop, 1).flatMap((start) => [start, start + 0.14]);
}

interface Sound {
  readonly lasts: number;
  readonly at: Note;
}

function click({ random }: Loop, lasts: number, level: number): Sound {
  return { lasts: lasts * 4, at: (t) => level * (random() * 2 - 1) * Math.exp(-t / lasts) };
}

function clink({ random }: Loop, frequency: number): Sound {
  const base = frequency * (0.75 + 0.5 * random());
  const level = 1.5 + 2 * random();
  return { lasts: 0.25, at: (t) => level * Math.exp(-t * 28) * (wave(base, t) + 0.6 * wave(base * 2.76, t) + 0.3 * wave(base * 1.51, t)) };
}

function chirp({ random }: Loop, index: number): Sound {
  const base = 2600 + 1800 * random();
  const trills = 2 + (index % 4);
  const level = 0.8 + 1.4 * random();
  const lasts = 0.12 * trills;
  // The pitch falls within each trill: its phase is the integral.
  return {
    lasts,
    at: (t) => {
      const within = t % 0.12;
      return within > 0.09
        ? 0
        : level * Math.sin(Math.PI * (within / 0.09)) * Math.sin(2 * Math.PI * (base * within - base * 2.2 * within * within));
    },
  };
}

function gull(): Sound {
  return {
    lasts: 0.45,
    at: (t) =>
      2 *
      Math.sin((Math.PI * t) / 0.45) *
      (Math.sin(2 * Math.PI * (1500 * t - 700 * t * t)) + 0.5 * Math.sin(2 * Math.PI * (3000 * t - 1400 * t * t))),
  };
}

function thump(frequency: number): Sound {
  return { lasts: 0.18, at: (t) => 7 * Math.exp(-t * 30) * wave(frequency * (1 - t), t) };
}

function gong(frequency: number): Sound {
  return { lasts: 1.4, at: (t) => 2.2 * Math.exp(-t * 3) * (wave(frequency, t) + 0.4 * wave(frequency * 2, t)) };
}

function horn(): Sound {
  return { lasts: 0.5, at: (t) => 1.6 * (wave(400, t) + 0.8 * wave(500, t) + 0.3 * wave(1000, t)) };
}

function whistle(): Sound {
  return { lasts: 0.7, at: (t) => 1.6 * Math.sin(2 * Math.PI * 2900 * t + 3 * Math.sin(2 * Math.PI * 38 * t)) };
}

function wave(frequency: number, seconds: number): number {
  return Math.sin(2 * Math.PI * frequency * seconds);
}
