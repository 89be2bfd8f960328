import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { wavHeader, wavOf } from '../../../platform/wav.ts';
import { PcmReader } from './pcm-reader.ts';

const rate = 24_000;
const ramp = Int16Array.from({ length: 5_000 }, (_, index) => index * 3 - 7_000);
const bytes = Buffer.from(ramp.buffer);

function read(pieces: readonly Uint8Array[]): { readonly samples: readonly number[]; readonly rates: readonly number[] } {
  const reader = new PcmReader(rate);
  const frames = [...pieces.flatMap((piece) => reader.push(piece)), ...reader.end()];
  return { samples: frames.flatMap(({ data }) => [...data]), rates: [...new Set(frames.map(({ sampleRate }) => sampleRate))] };
}

const cut = (whole: Buffer, sizes: readonly number[]): readonly Buffer[] => {
  const pieces: Buffer[] = [];
  let at = 0;
  for (const size of sizes) {
    pieces.push(whole.subarray(at, at + size));
    at += size;
  }
  return [...pieces, whole.subarray(at)];
};

it('gives the same samples, however the bytes come', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 3_000 }), { maxLength: 12 }), fc.boolean(), (sizes, wav) => {
      const whole = wav ? wavOf({ samples: ramp, sampleRate: 48_000 }) : bytes;
      const { samples, rates } = read(cut(whole, sizes));
      expect(samples).toEqual([...ramp]);
      expect(rates).toEqual([wav ? 48_000 : rate]);
    }),
  );
});

it('has a frame as soon as there are 20 ms', () => {
  const reader = new PcmReader(rate);
  expect(reader.push(bytes.subarray(0, 959))).toEqual([]);
  expect(reader.push(bytes.subarray(959, 960))).toHaveLength(1);
});

it('has few frames where much has come, none longer than 100 ms', () => {
  const frames = new PcmReader(rate).push(bytes.subarray(0, 4_800 + 960 + 1));
  expect(frames.map(({ samplesPerChannel }) => samplesPerChannel)).toEqual([2_400, 480]);
});

describe('a WAV file', () => {
  it('of two channels is heard on one', () => {
    const both = Int16Array.from({ length: 2_000 }, (_, index) => (index % 2 === 0 ? index : -1));
    const { samples } = read([wavOf({ samples: both, sampleRate: rate, channels: 2 })]);
    expect(samples).toEqual([...both].filter((_, index) => index % 2 === 0));
  });

  it('of another kind is refused', () => {
    const header = wavHeader({ sampleRate: rate, dataBytes: 100 });
    header.writeUInt16LE(3, 20);
    expect(() => read([header, Buffer.alloc(100)])).toThrow(RangeError);
  });
});

it('takes an odd byte at the end for nothing, and less than four for sound', () => {
  expect(read([bytes.subarray(0, 2_001)]).samples).toHaveLength(1_000);
  expect(read([Buffer.from('RI')]).samples).toHaveLength(1);
  expect(read([]).samples).toEqual([]);
});
