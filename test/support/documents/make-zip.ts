import { constants, crc32, deflateRawSync } from 'node:zlib';

/** One entry of an archive; a field that is left out follows from `content`. */
export interface ZipEntry {
  readonly name: string | Buffer;
  readonly content?: string | Buffer;
  /** Content that is packed already, as raw deflate data. */
  readonly packed?: Buffer;
  /** Unpacked size that the directory states; by default the truth. */
  readonly declared?: number;
  /** Set for the entry's own bit 0, which says that it is encrypted. */
  readonly encrypted?: boolean;
  /** Checksum that the directory states. */
  readonly crc?: number;
  /** Method of compression: 0 stores, 8, the default, deflates. */
  readonly method?: number;
  /** Set to leave out the flag that the name is UTF-8. */
  readonly oldName?: boolean;
  /** Mode of Unix: type and permissions. */
  readonly mode?: number;
  /** Set if the bytes are those of the first entry. */
  readonly overlaps?: boolean;
}

/** Makes an archive as hostile as asked. */
export function makeZip(entries: readonly ZipEntry[]): Buffer {
  const files: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const entry of entries) {
    const content = Buffer.from(entry.content ?? '');
    const packed = entry.packed ?? (entry.method === 0 ? content : deflateRawSync(content));
    const name = Buffer.from(entry.name as string);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE((entry.oldName === true ? 0 : 0x0800) | (entry.encrypted === true ? 1 : 0), 2);
    common.writeUInt16LE(entry.method ?? 8, 4);
    common.writeUInt32LE(entry.crc ?? crc32(content), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(entry.declared ?? content.length, 18);
    common.writeUInt16LE(name.length, 22);
    const place = Buffer.alloc(14);
    place.writeUInt16LE(entry.mode ?? 0, 8);
    place.writeUInt32LE(entry.overlaps === true ? 0 : offset, 10);
    directory.push(Buffer.from('504b01021400', 'hex'), common, place, name);
    if (entry.overlaps === true) continue;
    files.push(Buffer.from('504b0304', 'hex'), common, name, packed);
    offset += 30 + name.length + packed.length;
  }
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(Math.min(entries.length, 0xffff), 8);
  end.writeUInt16LE(Math.min(entries.length, 0xffff), 10);
  end.writeUInt32LE(
    directory.reduce((sum, part) => sum + part.length, 0),
    12,
  );
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...files, ...directory, end]);
}

/** Makes raw deflate data of `head`, then `part` so many times, then `tail`, without ever holding what it unpacks to. */
export function deflateRepeated(options: {
  readonly head?: string;
  readonly part: Buffer;
  readonly times: number;
  readonly tail?: string;
}): Buffer {
  const pack = (content: Buffer): Buffer => deflateRawSync(content, { finishFlush: constants.Z_FULL_FLUSH, level: 9 });
  const part = pack(options.part);
  return Buffer.concat([
    pack(Buffer.from(options.head ?? '')),
    ...Array.from({ length: options.times }, () => part),
    deflateRawSync(Buffer.from(options.tail ?? '')),
  ]);
}
