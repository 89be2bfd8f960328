/** Splits a body into lines; one line at a time is in memory. */

import { Pacer } from '../../../platform/pacer.ts';

export type BodyLine = { readonly bytes: Buffer } | { readonly tooLong: true };

const NEWLINE = 0x0a;

/** Yields lines without their ends, and skips empty ones, in slices. A line longer than `maxBytes` is passed over, and reported. */
export async function* readLines(body: AsyncIterable<Uint8Array>, { maxBytes }: { readonly maxBytes: number }): AsyncGenerator<BodyLine> {
  let pieces: Uint8Array[] = [];
  let bytes = 0;
  const take = (piece: Uint8Array): void => {
    bytes += piece.length;
    if (bytes > maxBytes) pieces = [];
    else pieces.push(piece);
  };
  const line = (): BodyLine | undefined => {
    const found: BodyLine = bytes > maxBytes ? { tooLong: true } : { bytes: trimmed(Buffer.concat(pieces)) };
    pieces = [];
    bytes = 0;
    return 'bytes' in found && found.bytes.length === 0 ? undefined : found;
  };
  const pacer = new Pacer();
  for await (const chunk of body) {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      take(chunk.subarray(from, at));
      from = at + 1;
      const found = line();
      // The pause comes with each line, even an empty one, as a body of these alone yields nothing.
      if (pacer.due) await pacer.pause();
      if (found !== undefined) yield found;
    }
    take(chunk.subarray(from));
  }
  const last = line();
  if (last !== undefined) yield last;
}

/** Removes white space at a line's ends: a carriage return, or all of a blank line. */
function trimmed(line: Buffer): Buffer {
  let [from, to] = [0, line.length];
  while (from < to && isBlank(line[from])) from += 1;
  while (to > from && isBlank(line[to - 1])) to -= 1;
  return line.subarray(from, to);
}

function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0d;
}
