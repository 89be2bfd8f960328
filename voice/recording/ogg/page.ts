/** Ogg pages, read and written, and the packets in them (RFC 3533): as much of them as a file with one stream of Opus has. */

interface OggPage {
  readonly serial: number;
  /** Samples at 48 kHz up to the last packet that ends on the page; -1 where none does. */
  readonly granule: bigint;
  readonly continued: boolean;
  readonly first: boolean;
  readonly last: boolean;
  /** Length of each segment; below 255 it ends a packet. */
  readonly lacing: Uint8Array;
  readonly body: Uint8Array;
}

const HEADER_BYTES = 27;
const CAPTURE_PATTERN = 0x4f676753;

/**
 * Returns the length of the page at the beginning of `bytes`; undefined while its header is incomplete. @throws RangeError where there is
 * no page
 */
function pageLength(bytes: Buffer): number | undefined {
  if (bytes.length < HEADER_BYTES) return undefined;
  if (bytes.readUInt32BE(0) !== CAPTURE_PATTERN || bytes[4] !== 0) throw new RangeError('there is no Ogg page here');
  const segments = bytes[26] ?? 0;
  if (bytes.length < HEADER_BYTES + segments) return undefined;
  let length = HEADER_BYTES + segments;
  for (const size of bytes.subarray(HEADER_BYTES, HEADER_BYTES + segments)) length += size;
  return length;
}

/** Parses a page. @throws RangeError for a page that was damaged */
function parsePage(bytes: Buffer): OggPage {
  if (checksum(bytes) !== bytes.readUInt32LE(22)) throw new RangeError('the checksum of an Ogg page is wrong');
  const flags = bytes[5] ?? 0;
  const segments = bytes[26] ?? 0;
  return {
    serial: bytes.readUInt32LE(14),
    granule: bytes.readBigInt64LE(6),
    continued: (flags & 1) !== 0,
    first: (flags & 2) !== 0,
    last: (flags & 4) !== 0,
    lacing: bytes.subarray(HEADER_BYTES, HEADER_BYTES + segments),
    body: bytes.subarray(HEADER_BYTES + segments),
  };
}

/** Writes a page of whole packets: the caller sees to it that these are 255 segments at most. */
export function writePage(page: {
  readonly serial: number;
  readonly sequence: number;
  readonly granule: number;
  readonly packets: readonly Uint8Array[];
  readonly first?: boolean;
  readonly last?: boolean;
}): Buffer {
  const lacing = page.packets.flatMap((packet) => lacingOf(packet.length));
  const bytes = Buffer.alloc(HEADER_BYTES + lacing.length + page.packets.reduce((sum, packet) => sum + packet.length, 0));
  bytes.writeUInt32BE(CAPTURE_PATTERN, 0);
  bytes[5] = (page.first === true ? 2 : 0) | (page.last === true ? 4 : 0);
  bytes.writeBigInt64LE(BigInt(page.granule), 6);
  bytes.writeUInt32LE(page.serial, 14);
  bytes.writeUInt32LE(page.sequence, 18);
  bytes[26] = lacing.length;
  bytes.set(lacing, HEADER_BYTES);
  let at = HEADER_BYTES + lacing.length;
  for (const packet of page.packets) {
    bytes.set(packet, at);
    at += packet.length;
  }
  bytes.writeUInt32LE(checksum(bytes), 22);
  return bytes;
}

/** Returns the segments of a packet: as many full ones as fit, and one that ends it. */
export function lacingOf(length: number): number[] {
  return [...Array.from({ length: Math.floor(length / 255) }, () => 255), length % 255];
}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, index) => {
  let remainder = index << 24;
  for (let bit = 0; bit < 8; bit += 1) remainder = (remainder << 1) ^ (remainder < 0 ? 0x04c11db7 : 0);
  return remainder >>> 0;
});

/** Sums over the whole page, its own field counting as zero. */
function checksum(bytes: Uint8Array): number {
  let sum = 0;
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = index >= 22 && index < 26 ? 0 : (bytes[index] ?? 0);
    sum = ((sum << 8) ^ (CRC_TABLE[((sum >>> 24) ^ byte) & 0xff] ?? 0)) >>> 0;
  }
  return sum;
}

export interface OggPacket {
  readonly serial: number;
  readonly bytes: Uint8Array;
}

/** Reads the packets of a file, up to the first damaged or unfinished page. */
export async function* readPackets(source: AsyncIterable<Uint8Array>): AsyncGenerator<OggPacket> {
  let begun: Uint8Array[] = [];
  for await (const page of readPages(source)) {
    if (!page.continued) begun = [];
    let at = 0;
    let from = 0;
    for (const size of page.lacing) {
      at += size;
      if (size === 255) continue;
      yield { serial: page.serial, bytes: Buffer.concat([...begun, page.body.subarray(from, at)]) };
      begun = [];
      from = at;
    }
    if (at > from) begun.push(page.body.subarray(from, at));
  }
}

async function* readPages(source: AsyncIterable<Uint8Array>): AsyncGenerator<OggPage> {
  let rest = Buffer.alloc(0);
  for await (const chunk of source) {
    rest = rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([rest, chunk]);
    for (;;) {
      const page = nextPage(rest);
      if (page === 'damaged') return;
      if (page === undefined) break;
      yield page.page;
      rest = rest.subarray(page.length);
    }
  }
}

function nextPage(bytes: Buffer): { readonly page: OggPage; readonly length: number } | 'damaged' | undefined {
  try {
    const length = pageLength(bytes);
    if (length === undefined || bytes.length < length) return undefined;
    return { page: parsePage(bytes.subarray(0, length)), length };
  } catch (error) {
    if (error instanceof RangeError) return 'damaged';
    throw error;
  }
}
