import { describe, expect, it } from 'vitest';

import { syntheticSpeech } from '../../test/support/synthetic-speech.ts';
import { tone } from '../../test/support/tones.ts';
import { BeepDetector } from './beep.ts';

const SAMPLE_RATE = 16_000;
const WINDOW = 512;

const quiet = (seconds: number): number[] => Array.from({ length: seconds * SAMPLE_RATE }, () => 0);
const beep = (frequency: number, seconds: number, volume = 0.3): Int16Array =>
  tone({ frequency, seconds, volume, sampleRate: SAMPLE_RATE });

/** Returns when tones were found to be over, in seconds. */
function beepsIn(...sounds: readonly (Int16Array | readonly number[])[]): readonly number[] {
  const samples = Int16Array.from(sounds.flatMap((sound) => Array.from(sound)));
  const detector = new BeepDetector();
  const found: number[] = [];
  for (let at = 0; at + WINDOW <= samples.length; at += WINDOW)
    if (detector.hear(samples.subarray(at, at + WINDOW))) found.push((at + WINDOW) / SAMPLE_RATE);
  return found;
}

describe('a tone', () => {
  it.each([350, 425, 777, 1_000, 1_403, 2_500])('of %d Hz is found when it is over', (frequency) => {
    const [at, ...more] = beepsIn(quiet(0.5), beep(frequency, 0.5), quiet(1));
    expect(at).toBeGreaterThan(1);
    expect(at).toBeLessThan(1.1);
    expect(more).toEqual([]);
  });

  it('is found where it is quiet, and behind words', () => {
    expect(beepsIn(syntheticSpeech({ sampleRate: SAMPLE_RATE, ms: 2_000 }), beep(1_000, 0.3, 0.02), quiet(1))).toHaveLength(1);
  });
});

/** Plays tones at the same time. */
const together = (...sounds: readonly Int16Array[]): Int16Array =>
  sounds[0]!.map((_, n) => sounds.reduce((sum, sound) => sum + sound[n]!, 0));

describe('no tone', () => {
  it.each<[string, Int16Array | readonly number[]]>([
    ['silence', quiet(2)],
    ['speech', syntheticSpeech({ sampleRate: SAMPLE_RATE, ms: 5_000 })],
    ['a click of one frequency', beep(1_000, 0.1)],
    ['a frequency that no mailbox has', beep(100, 1)],
    ['two frequencies at a time', together(beep(770, 1), beep(1_336, 1))],
    [
      'a siren',
      Int16Array.from({ length: SAMPLE_RATE }, (_, n) => 9_000 * Math.sin((2 * Math.PI * (500 * n + (n * n) / 20)) / SAMPLE_RATE)),
    ],
    ['a voice on one note, by its overtones', together(beep(400, 1), beep(800, 1, 0.2), beep(1_200, 1, 0.1))],
  ])('is found in %s', (_what, sound) => {
    expect(beepsIn(sound, quiet(0.5))).toEqual([]);
  });
});
