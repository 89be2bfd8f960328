import fc from 'fast-check';
import { expect, it } from 'vitest';

import { END_OF_FILE, framed, FrameReader } from './framing.ts';

/** Gives a stream's bytes in portions of these sizes, as a pipe does. */
function portions(stream: Buffer, sizes: readonly number[]): FrameReader {
  let at = 0;
  let turn = 0;
  return new FrameReader((buffer, into, length) => {
    const size = Math.min(length, sizes[turn++ % sizes.length] ?? 1, stream.length - at);
    stream.copy(buffer, into, at, at + size);
    at += size;
    return size;
  });
}

const part = fc.oneof(
  fc.uint8Array({ minLength: 1, maxLength: 50 }),
  fc.nat(200_000).map((length) => new Uint8Array(length + 1).fill(length % 251)),
);

it('gives files as they were written, however the pipe cuts them', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ first: part, parts: fc.array(part, { maxLength: 4 }) }), { maxLength: 4 }),
      fc.array(fc.integer({ min: 1, max: 100_000 }), { minLength: 1, maxLength: 5 }).map((sizes) => sizes.concat(50_000)),
      (files, sizes) => {
        const reader = portions(Buffer.concat(files.map(({ first, parts }) => framed([first, ...parts, END_OF_FILE]))), sizes);
        for (const { first, parts } of files) {
          const file = reader.file();
          expect(file?.first.equals(first)).toBe(true);
          expect(file?.content.equals(Buffer.concat(parts))).toBe(true);
          // A file has memory of its own.
          expect(file?.content.buffer.byteLength).toBe(file?.content.length);
        }
        expect(reader.file()).toBeUndefined();
      },
    ),
    { numRuns: 40 },
  );
});
