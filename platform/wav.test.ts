import { expect, it } from 'vitest';

import { readWav, wavOf } from './wav.ts';

interface Shape {
  readonly code?: number;
  readonly channels?: number;
  readonly bits?: number;
  readonly data: Uint8Array;
  /** Length that the header states. */
  readonly length?: number;
  readonly before?: Uint8Array;
}

function wav({ code = 1, channels = 1, bits = 16, data, length = data.length, before = new Uint8Array() }: Shape): Uint8Array {
  const header = Buffer.alloc(36 + before.length + 8);
  header.write('RIFF', 0);
  header.writeUInt32LE(0xffffffff, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(code, 20);
  header.writeUInt16LE(channels, 22);
  header.writeUInt32LE(24_000, 24);
  header.writeUInt32LE((24_000 * channels * bits) / 8, 28);
  header.writeUInt16LE((channels * bits) / 8, 32);
  header.writeUInt16LE(bits, 34);
  header.set(before, 36);
  header.write('data', 36 + before.length);
  header.writeUInt32LE(length, 40 + before.length);
  return Buffer.concat([header, data]);
}

const bytesOf = (view: ArrayBufferView): Uint8Array => new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
const read = (shape: Shape): number[] => [...readWav(wav(shape)).samples];

it('reads what speech servers write', () => {
  const samples = new Int16Array([0, 1, -32_768, 32_767]);
  expect(readWav(wav({ data: bytesOf(samples) }))).toEqual({ sampleRate: 24_000, samples });
  // One file is a stream of unknown length; the other has a list of titles before the data.
  expect(read({ data: bytesOf(samples), length: 0xffffffff })).toEqual([...samples]);
  const list = Buffer.from('LIST\u0003\u0000\u0000\u0000abc\u0000', 'latin1');
  expect(read({ data: bytesOf(samples), before: list })).toEqual([...samples]);
});

it('reads other depths, and makes one channel of several', () => {
  expect(read({ bits: 8, data: new Uint8Array([0, 128, 255]) })).toEqual([-32_768, 0, 32_512]);
  expect(read({ bits: 24, data: new Uint8Array([9, 0, 64, 9, 0, 192]) })).toEqual([16_384, -16_384]);
  expect(read({ bits: 32, data: bytesOf(new Int32Array([1 << 30])) })).toEqual([16_384]);
  expect(read({ code: 3, bits: 32, data: bytesOf(new Float32Array([0.5, -2])) })).toEqual([16_384, -32_768]);
  expect(read({ channels: 2, data: bytesOf(new Int16Array([100, 300, -5, 5])) })).toEqual([200, 0]);
});

it('reads what it writes', () => {
  const samples = new Int16Array([0, 1, -32_768, 32_767]);
  expect(readWav(wavOf({ samples, sampleRate: 16_000 }))).toEqual({ sampleRate: 16_000, samples });
  expect(readWav(wavOf({ samples, sampleRate: 16_000, channels: 2 })).samples).toHaveLength(2);
});

it('says of what it can not read why', () => {
  const junk = [
    new Uint8Array(),
    Buffer.from('RIFF'),
    Buffer.from('OggS0000000000000000'),
    wav({ code: 6, bits: 8, data: new Uint8Array(8) }),
  ];
  for (const bytes of [...junk, wav({ data: new Uint8Array() }).subarray(0, 36)]) {
    const attempt = (): unknown => readWav(bytes);
    expect(attempt).toThrow(RangeError);
    expect(attempt).toThrow(/WAV file/);
  }
});
