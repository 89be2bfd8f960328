import { beforeAll, describe, expect, it } from 'vitest';

import { decodeOgg, encodeOgg } from '../../../test/support/ogg.ts';
import { heardFrequency, loudness, tone } from '../../../test/support/tones.ts';
import { cutOpus, EmptyRecordingError, opusSamples } from './cut-opus.ts';

const rate = 48_000;
const seconds = 10;
/** The user says something from 1 s to 2 s, the agent from 4 s to 5 s and from 8 s on. */
let file: Buffer;

function channel(...tones: readonly { readonly from: number; readonly to: number; readonly frequency: number }[]): Int16Array {
  const samples = new Int16Array(seconds * rate);
  for (const { from, to, frequency } of tones) samples.set(tone({ frequency, seconds: to - from, sampleRate: rate }), from * rate);
  return samples;
}

beforeAll(async () => {
  const left = channel({ from: 1, to: 2, frequency: 500 });
  const right = channel({ from: 4, to: 5, frequency: 900 }, { from: 8, to: seconds, frequency: 1500 });
  file = await encodeOgg({ left, right });
});

async function* inPieces(bytes: Uint8Array, size = 1_000): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function cut(bytes: Uint8Array, window: { readonly fromMs: number; readonly toMs?: number }) {
  let length = 0;
  const pages: Uint8Array[] = [];
  for await (const page of cutOpus(inPieces(bytes), { ...window, onLength: (ms) => (length = ms) })) pages.push(page);
  const decoded = await decodeOgg(Buffer.concat(pages));
  expect(Math.abs(decoded.seconds * 1000 - length)).toBeLessThan(1);
  return decoded;
}

/** Returns when a channel begins to be heard, in seconds. */
function onset(samples: Int16Array, after = 0): number {
  for (let at = after * rate; at < samples.length; at += 48) if (loudness(samples.subarray(at, at + 48)) > 0.05) return at / rate;
  throw new Error('nothing is heard');
}

describe('a recording that is cut', () => {
  it('stays as it is where the call is as long as the file', async () => {
    const { left, right, seconds: length } = await cut(file, { fromMs: 0, toMs: seconds * 1000 });
    expect(length).toBeCloseTo(seconds, 3);
    expect(onset(left)).toBeCloseTo(1, 2);
    expect(onset(right)).toBeCloseTo(4, 2);
    expect(heardFrequency(left.subarray(1.2 * rate, 1.8 * rate), rate)).toBe(500);
    expect(heardFrequency(right.subarray(4.2 * rate, 4.8 * rate), rate)).toBe(900);
    expect(loudness(left.subarray(4 * rate, 5 * rate))).toBeLessThan(0.01);
  });

  it.each([
    [500, 4_500],
    [1_234.5, 9_000],
    [30, 30 + 5_000],
    [3_999, 10_000],
  ])('from %d ms to %d ms is as long as that, and has everything in its place', async (fromMs, toMs) => {
    const { left, right, seconds: length } = await cut(file, { fromMs, toMs });
    expect(length).toBeCloseTo((toMs - fromMs) / 1000, 3);
    if (fromMs < 1_000) expect(onset(left)).toBeCloseTo(1 - fromMs / 1000, 2);
    expect(onset(right)).toBeCloseTo(Math.max(0, 4 - fromMs / 1000), 2);
  });

  it('begins with silence where the call began before', async () => {
    const { left, seconds: length } = await cut(file, { fromMs: -1_510, toMs: 3_000 });
    expect(length).toBeCloseTo(4.51, 3);
    expect(onset(left)).toBeCloseTo(2.51, 2);
    expect(loudness(left.subarray(0, 2.4 * rate))).toBeLessThan(0.01);
  });

  it('ends with the file where that is shorter', async () => {
    expect((await cut(file, { fromMs: 2_000, toMs: 60_000 })).seconds).toBeCloseTo(8, 1);
    expect((await cut(file, { fromMs: -1_000 })).seconds).toBeCloseTo(11, 1);
  });

  it.each([0.3, 0.51, 0.77, 0.999])('that was torn off after %d of it is what had been written whole', async (part) => {
    const whole = file.subarray(0, Math.floor(file.length * part));
    const { left, seconds: length } = await cut(whole, { fromMs: 0 });
    expect(length).toBeGreaterThan(2);
    expect(length).toBeLessThanOrEqual(seconds);
    expect(onset(left)).toBeCloseTo(1, 2);
  });

  it('ends before a page that was damaged', async () => {
    const damaged = Buffer.from(file);
    damaged[Math.floor(file.length * 0.6)]! ^= 0xff;
    expect((await cut(damaged, { fromMs: 0 })).seconds).toBeLessThan(seconds);
  });

  it.each([
    ['of which nothing is there', () => Buffer.alloc(0), {}],
    ['that is something else', () => Buffer.from('RIFF, or what do I know'), {}],
    ['of which nothing but the head is there', () => file.subarray(0, 100), {}],
    ['that has nothing of the call', () => file, { fromMs: 60_000 }],
    ['of a call that took no time', () => file, { fromMs: 1_000, toMs: 1_000 }],
  ])('%s is none', async (_, bytes, window) => {
    await expect(cut(bytes(), { fromMs: 0, ...window })).rejects.toThrow(EmptyRecordingError);
  });
});

describe('a packet of Opus', () => {
  it.each([
    [[0xfc, 0xff, 0xfe], 20],
    [[0x00], 10],
    [[0x18], 60],
    [[0x08, 0, 0], 20],
    [[0x80], 2.5],
    [[0xf9, 0], 40],
    [[0xfb, 0x03], 60],
    [[], 0],
  ])('%j plays for %d ms', (bytes, ms) => {
    expect(opusSamples(Uint8Array.from(bytes))).toBe(ms * 48);
  });
});
