import { crc32, deflateSync } from 'node:zlib';

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
/** Filter that stores each line as its difference from the one above, which in text is mostly none. */
const FILTER_UP = 2;

/** Encodes a picture in 8 bits of grey. @param pixels line after line, without gaps @see https://www.w3.org/TR/png-3/ */
export function greyPng(pixels: Uint8Array, width: number, height: number): Buffer {
  const lines = Buffer.alloc((width + 1) * height);
  for (let y = 0, at = 0, to = 0; y < height; y += 1) {
    lines[to++] = FILTER_UP;
    for (let x = 0; x < width; x += 1, at += 1) lines[to++] = (pixels[at] ?? 0) - (y === 0 ? 0 : (pixels[at - width] ?? 0));
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 8;
  return Buffer.concat([SIGNATURE, chunk('IHDR', header), chunk('IDAT', deflateSync(lines)), chunk('IEND', Buffer.alloc(0))]);
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}
