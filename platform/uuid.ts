import { randomBytes } from 'node:crypto';

export interface UuidOptions {
  /** Milliseconds since the Unix epoch. */
  readonly now?: () => number;
  /** Returns `size` unpredictable bytes. */
  readonly random?: (size: number) => Buffer;
}

/** Maximum of the 12 bits behind the time. */
const COUNTER_MAX = 0xfff;

/**
 * Returns a source of UUIDv7 whose every id sorts behind the one before, also within a millisecond and when the clock goes back. Each
 * millisecond begins at a random count; where the count runs out, the next millisecond begins early. Source: RFC 9562, sections 5.7 and
 * 6.2 (method 1).
 */
export function uuidv7Sequence({ now = Date.now, random = randomBytes }: UuidOptions = {}): () => string {
  let ms = -1;
  let counter = 0;
  return () => {
    const bytes = random(16);
    const time = now();
    if (time > ms || counter === COUNTER_MAX) {
      ms = Math.max(time, ms + 1);
      counter = bytes.readUInt16BE(6) & COUNTER_MAX;
    } else counter += 1;
    return uuidOf(bytes, ms, counter);
  };
}

/** Returns the next id of this process: ids that are made one after the other here are listed in that order. */
export const uuidv7 = uuidv7Sequence();

let latest = { ms: -1, next: uuidv7 };

/** Returns an id for a given moment; those of one millisecond are listed as they are made. @param ms milliseconds since the Unix epoch */
export function uuidv7At(ms: number): string {
  if (ms !== latest.ms) latest = { ms, next: uuidv7Sequence({ now: () => ms }) };
  return latest.next();
}

function uuidOf(bytes: Buffer, ms: number, counter: number): string {
  bytes.writeUIntBE(ms, 0, 6);
  bytes.writeUInt16BE(0x7000 | counter, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
