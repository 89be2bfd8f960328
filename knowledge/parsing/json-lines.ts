import type { Readable } from 'node:stream';

/** Most characters of a line: many times two batches of blocks; a longer line is hostile. */
const LONGEST_LINE = 16_000_000;

/** Reads one value a line, and reads on only when asked to. @throws Error when a line is too long or no JSON */
export async function* jsonLines(stream: Readable): AsyncGenerator {
  let open: Buffer[] = [];
  let openBytes = 0;
  for await (const part of stream as AsyncIterable<Buffer>) {
    let from = 0;
    for (let end = part.indexOf(0x0a); end >= 0; end = part.indexOf(0x0a, from)) {
      yield JSON.parse(Buffer.concat([...open, part.subarray(from, end)]).toString());
      open = [];
      openBytes = 0;
      from = end + 1;
    }
    if (from < part.length) {
      open.push(part.subarray(from));
      openBytes += part.length - from;
    }
    if (openBytes > LONGEST_LINE) throw new Error('a parser sent a line without an end');
  }
}
