/** Zip archives as tests need them: also such as no program would write. */
import { crc32, deflateRawSync } from 'node:zlib';

export interface ZipFile {
  readonly name: string | Buffer;
  readonly content: string | Buffer;
  /** Instead of what is true. */
  readonly crc?: number;
  readonly uncompressedSize?: number;
  readonly compressed?: Buffer;
  readonly method?: number;
  readonly flags?: number;
  /** Of Unix: type and permissions. */
  readonly mode?: number;
  /** Shares the bytes of the first file. */
  readonly overlaps?: boolean;
}

/** @see APPNOTE.TXT 4.3 */
export function zipOf(files: readonly ZipFile[]): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const file of files) {
    const name = Buffer.from(file.name as string);
    const content = Buffer.from(file.content as string);
    const data = file.compressed ?? (file.method === 0 ? content : deflateRawSync(content));
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(file.flags ?? 0x800, 2);
    common.writeUInt16LE(file.method ?? 8, 4);
    common.writeUInt32LE(file.crc ?? crc32(content), 10);
    common.writeUInt32LE(data.length, 14);
    common.writeUInt32LE(file.uncompressedSize ?? content.length, 18);
    common.writeUInt16LE(name.length, 22);
    const at = file.overlaps === true ? 0 : offset;
    if (file.overlaps !== true) {
      const local = Buffer.concat([Buffer.from('PK\u0003\u0004'), common, name, data]);
      parts.push(local);
      offset += local.length;
    }
    const place = Buffer.alloc(14);
    place.writeUInt32LE(((file.mode ?? 0o100_644) << 16) >>> 0, 6);
    place.writeUInt32LE(at, 10);
    directory.push(Buffer.concat([Buffer.from('PK\u0001\u0002'), Buffer.from([20, 3]), common, place, name]));
  }
  const directoryBytes = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(files.length, 4);
  end.writeUInt16LE(files.length, 6);
  end.writeUInt32LE(directoryBytes.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...parts, directoryBytes, Buffer.from('PK\u0005\u0006'), end]);
}
