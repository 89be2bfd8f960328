import { inflateSync } from 'node:zlib';

import { expect, it } from 'vitest';

import { pictureSize } from './page-picture.ts';
import { greyPng } from './png.ts';

it('draws pages at 200 dots an inch, and large ones with no more than four million', () => {
  expect(pictureSize(595, 842)).toEqual({ width: 1652, height: 2338 });
  for (const [width, height] of [
    [14_400, 14_400],
    [1, 14_400],
    [14_400, 0.1],
  ] as const) {
    const size = pictureSize(width, height);
    expect(size.width * size.height).toBeLessThanOrEqual(4_000_000);
    expect(Math.min(size.width, size.height)).toBeGreaterThan(0);
  }
});

it('writes a PNG from which each point can be read', () => {
  const pixels = Uint8Array.from([0, 10, 255, 200, 7, 7]);
  const png = greyPng(pixels, 3, 2);
  expect(png.subarray(1, 4).toString()).toBe('PNG');
  expect([png.readUInt32BE(16), png.readUInt32BE(20), png[24], png[25]]).toEqual([3, 2, 8, 0]);
  const at = png.indexOf('IDAT');
  const lines = inflateSync(png.subarray(at + 4, at + 4 + png.readUInt32BE(at - 4)));
  const read: number[] = [];
  for (let y = 0; y < 2; y += 1)
    for (let x = 0; x < 3; x += 1) read.push(((lines[4 * y + 1 + x] ?? 0) + (y === 0 ? 0 : (read[x] ?? 0))) % 256);
  expect(Uint8Array.from(read)).toEqual(pixels);
});
