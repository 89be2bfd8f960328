/**
 * Writes and reads the frames in which a parser process gets its files: the length in four bytes, then the bytes. A frame without bytes
 * ends a file.
 */

const LENGTH_BYTES = 4;
const NOTHING = Buffer.alloc(0);

export const END_OF_FILE: Uint8Array = NOTHING;

/** Returns all frames as one buffer, to be written at once. */
export function framed(parts: readonly Uint8Array[]): Buffer {
  return Buffer.concat(
    parts.flatMap((part) => {
      const length = Buffer.alloc(LENGTH_BYTES);
      length.writeUInt32BE(part.length);
      return [length, part];
    }),
  );
}

/** Reads into `buffer` from `at` on, and waits for at least one byte. @returns the number of bytes; 0 at the end of the stream */
export type ReadInto = (buffer: Buffer, at: number, length: number) => number;

/** Reads frames synchronously: nothing else runs in a parser that waits for its next file. */
export class FrameReader {
  readonly #read: ReadInto;
  readonly #ahead = Buffer.alloc(65_536);
  #from = 0;
  #to = 0;

  constructor(read: ReadInto) {
    this.#read = read;
  }

  /** Returns a file's first frame and the bytes of the others, in memory of their own. @returns undefined at the end of the stream */
  file(): { readonly first: Buffer; readonly content: Buffer } | undefined {
    const first = this.#frame();
    if (first === undefined) return undefined;
    const parts: Buffer[] = [];
    for (let part = this.#frame(); part !== undefined && part.length > 0; part = this.#frame()) parts.push(part);
    const [only = NOTHING] = parts;
    return { first, content: parts.length > 1 ? joined(parts) : only };
  }

  #frame(): Buffer | undefined {
    const length = this.#bytes(LENGTH_BYTES);
    return length === undefined ? undefined : this.#bytes(length.readUInt32BE());
  }

  #bytes(length: number): Buffer | undefined {
    // The shared pool is never used: a parser's writes to a file's memory must not reach another's.
    const bytes = Buffer.alloc(length);
    let at = this.#ahead.copy(bytes, 0, this.#from, Math.min(this.#to, this.#from + length));
    this.#from += at;
    while (at < length) {
      if (length - at >= this.#ahead.length) {
        const got = this.#read(bytes, at, length - at);
        if (got === 0) return undefined;
        at += got;
        continue;
      }
      this.#from = 0;
      this.#to = this.#read(this.#ahead, 0, this.#ahead.length);
      if (this.#to === 0) return undefined;
      const copied = this.#ahead.copy(bytes, at, 0, Math.min(this.#to, length - at));
      this.#from = copied;
      at += copied;
    }
    return bytes;
  }
}

function joined(parts: readonly Buffer[]): Buffer {
  const whole = Buffer.alloc(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) at += part.copy(whole, at);
  return whole;
}
