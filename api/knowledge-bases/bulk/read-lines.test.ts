import { Readable } from 'node:stream';

import fc from 'fast-check';
import { expect, it } from 'vitest';

import { readLines, type BodyLine } from './read-lines.ts';

async function* cut(body: Buffer, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  let at = 0;
  for (const size of sizes) {
    yield body.subarray(at, at + size);
    at += size;
  }
  yield body.subarray(at);
}

const linesOf = async (body: Buffer, sizes: readonly number[], maxBytes = 64) =>
  ((await Readable.from(readLines(cut(body, sizes), { maxBytes })).toArray()) as BodyLine[]).map((line) =>
    'bytes' in line ? line.bytes.toString('latin1') : undefined,
  );

it('finds the same lines however the body is cut', async () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'é', '"', ' ', '\t', '\r', '\n'), maxLength: 300 });
  await fc.assert(
    fc.asyncProperty(text, fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 30 }), async (body, sizes) => {
      const expected = body
        .split('\n')
        .map((line) => ({ bytes: Buffer.byteLength(line), line: line.replaceAll(/^[ \t\r]+|[ \t\r]+$/g, '') }))
        .flatMap(({ bytes, line }) => (bytes > 64 ? [undefined] : line === '' ? [] : [Buffer.from(line).toString('latin1')]));
      expect(await linesOf(Buffer.from(body), sizes)).toEqual(expected);
    }),
  );
});

it('passes over what is too long, and goes on behind it', async () => {
  expect(await linesOf(Buffer.from(`${'x'.repeat(65)}\n${'y'.repeat(64)}\n${'z'.repeat(1_000)}`), [10, 10, 10])).toEqual([
    undefined,
    'y'.repeat(64),
    undefined,
  ]);
});
