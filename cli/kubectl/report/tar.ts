/** Writes tar archives (ustar). */
export interface TarEntry {
  /** Path of at most 255 bytes, with `/` between folders. */
  readonly path: string;
  readonly content: Uint8Array;
  /** Permissions; 0o600 where absent. */
  readonly mode?: number;
}

const BLOCK_SIZE = 512;

/** @param mtime time of every file, in seconds since the Unix epoch */
export function tar(entries: readonly TarEntry[], mtime: number): Uint8Array {
  return Buffer.concat([...tarBlocks(entries, mtime)]);
}

/** Yields the archive piece by piece: one file is in memory at a time. @param mtime as of {@link tar} */
export function* tarBlocks(entries: Iterable<TarEntry>, mtime: number): Generator<Uint8Array> {
  for (const { path, content, mode = 0o600 } of entries) {
    yield header({ path, size: content.length, mtime, mode });
    yield content;
    yield new Uint8Array((BLOCK_SIZE - (content.length % BLOCK_SIZE)) % BLOCK_SIZE);
  }
  yield new Uint8Array(2 * BLOCK_SIZE);
}

function header({ path, size, mtime, mode }: Readonly<Record<'size' | 'mtime' | 'mode', number>> & { readonly path: string }): Uint8Array {
  const block = Buffer.alloc(BLOCK_SIZE);
  const [prefix, name] = split(path);
  block.write(name, 0);
  block.write(octal(mode, 8), 100);
  block.write(octal(0, 8), 108);
  block.write(octal(0, 8), 116);
  block.write(octal(size, 12), 124);
  block.write(octal(mtime, 12), 136);
  block.write('        ', 148); // The checksum counts as blanks in its own sum.
  block.write('0', 156);
  block.write('ustar\u000000', 257, 'latin1');
  block.write(prefix, 345);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}

/** The name has room for 100 bytes, the folders in front of it for 155. */
function split(path: string): readonly [prefix: string, name: string] {
  if (Buffer.byteLength(path) <= 100) return ['', path];
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) {
    const [prefix, name] = [path.slice(0, at), path.slice(at + 1)];
    if (Buffer.byteLength(prefix) <= 155 && Buffer.byteLength(name) <= 100) return [prefix, name];
  }
  throw new Error(`the path is too long for a tar archive: ${path}`);
}

function octal(value: number, length: number): string {
  return `${value.toString(8).padStart(length - 1, '0')}\0`;
}
