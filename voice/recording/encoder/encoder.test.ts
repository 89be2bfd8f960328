import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';

import { afterAll, expect, it } from 'vitest';

import { eventually } from '../../../test/support/eventually.ts';
import { suiteFolder } from '../../../test/support/folders.ts';
import { decodeOgg } from '../../../test/support/ogg.ts';
import { cutOpus } from '../ogg/cut-opus.ts';
import { RecordingEncoder } from './index.ts';

const folder = suiteFolder();
const encoder = new RecordingEncoder();
afterAll(() => encoder.close());

/** Makes tones of 440 Hz on the left and of 1 kHz on the right. */
function tones(seconds: number): Buffer {
  const samples = Math.round(seconds * encoder.rate);
  const both = new Int16Array(2 * samples);
  for (let at = 0; at < samples; at += 1) {
    both[2 * at] = 8_000 * Math.sin((2 * Math.PI * 440 * at) / encoder.rate);
    both[2 * at + 1] = 8_000 * Math.sin((2 * Math.PI * 1_000 * at) / encoder.rate);
  }
  return Buffer.from(both.buffer);
}

/** Counts how often the sound crosses zero in a second, halved. */
function frequency(samples: Int16Array, seconds: number): number {
  let crossings = 0;
  for (let at = 1; at < samples.length; at += 1) if (samples[at - 1]! < 0 !== samples[at]! < 0) crossings += 1;
  return crossings / 2 / seconds;
}

it('files are as long as the sound, to the sample, and each side is where it belongs', async () => {
  const lengths = [0.0013, 0.02, 3.3337, 5];
  await Promise.all(
    lengths.map(async (seconds) => {
      const file = join(folder, `${seconds}.ogg`);
      const recording = encoder.open(file);
      const sound = tones(seconds);
      // The pieces may have any length.
      for (let at = 0; at < sound.length; at += 4 * 777) recording.write(sound.subarray(at, at + 4 * 777));
      recording.end();
      await finished(recording);
      const decoded = await decodeOgg(await readFile(file));
      expect(decoded.seconds).toBeCloseTo(Math.round(seconds * encoder.rate) / encoder.rate, 6);
      if (seconds < 1) return;
      expect(frequency(decoded.left, seconds)).toBeCloseTo(440, -1);
      expect(frequency(decoded.right, seconds)).toBeCloseTo(1_000, -1);
    }),
  );
});

it('what has been written is playable while the recording goes on, also of silence', async () => {
  const file = join(folder, 'on.ogg');
  const recording = encoder.open(file);
  recording.write(Buffer.alloc(20 * encoder.rate * 4));
  await eventually(async () => {
    let length = 0;
    for await (const page of cutOpus(createReadStream(file), { fromMs: 0, onLength: (ms) => (length = ms) }))
      expect(page.length).toBeGreaterThan(0);
    expect(length).toBeGreaterThan(18_000);
  });
  recording.end();
  await finished(recording);
});

it('sound after a long silence is where it belongs, and nothing is heard before it', async () => {
  const file = join(folder, 'after-silence.ogg');
  const recording = encoder.open(file);
  const [sound, silence] = [tones(1), Buffer.alloc(5 * encoder.rate * 4)];
  for (const piece of [sound, silence, sound]) recording.write(piece);
  recording.end();
  await finished(recording);
  const { left, right } = await decodeOgg(await readFile(file));
  const at = (seconds: number): number => (seconds * left.length) / 7;
  const loudest = (samples: Int16Array): number => samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
  for (const side of [left, right]) expect(loudest(side.subarray(at(1.5), at(5.98)))).toBeLessThan(20);
  expect(frequency(left.subarray(at(6.1)), 0.9)).toBeCloseTo(440, -1);
  expect(frequency(right.subarray(at(6.1)), 0.9)).toBeCloseTo(1_000, -1);
});

it('a file that cannot be written fails its own recording alone', async () => {
  const good = encoder.open(join(folder, 'good.ogg'));
  const bad = encoder.open(join(folder, 'nowhere', 'bad.ogg'));
  bad.write(tones(0.1));
  bad.end();
  await expect(finished(bad)).rejects.toThrow('ENOENT');
  good.write(tones(0.1));
  good.end();
  await finished(good);
});

it('a recording that is given up is complete up to then', async () => {
  const file = join(folder, 'given-up.ogg');
  const recording = encoder.open(file);
  recording.write(tones(1));
  recording.destroy(new Error('given up'));
  await expect(finished(recording)).rejects.toThrow('given up');
  await eventually(async () => expect((await decodeOgg(await readFile(file))).seconds).toBe(1));
});

it('recordings fail with the encoder, and later ones have another', async () => {
  const lost = encoder.open(join(folder, 'lost.ogg'));
  const failure = expect(finished(lost)).rejects.toThrow('the encoder of recordings has ended');
  await encoder.close();
  await failure;
  const next = encoder.open(join(folder, 'next.ogg'));
  next.end(tones(0.1));
  await finished(next);
});
