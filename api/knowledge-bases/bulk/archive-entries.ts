/** Reads the entries of a zip archive (`application/zip`) in the storage. */
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { crc32, inflateRaw, type InputType, type ZlibOptions } from 'node:zlib';

import { fromRandomAccessReaderPromise, type Entry as ZipEntry, type ZipFile } from 'yauzl';

import { ARCHIVE_LIMITS } from '../../../knowledge/parsing/limits.ts';
import { StorageError } from '../../../knowledge/storage/file-storage.ts';
import { paced } from '../../../platform/pacer.ts';
import { ApiError } from '../../http/api-error.ts';
import { MAX_FILE_BYTES } from '../schema.ts';
import { MANIFEST, readManifest, type ManifestEntry } from './archive-manifest.ts';
import { archiveName, baseName, isNoFile, pathFault } from './archive-names.ts';
import { EntryError, requireFileName, tooLargeFile, type BulkEntry, type SoundEntry } from './entry.ts';
import { MAX_ENTRIES, MAX_MANIFEST_BYTES, MAX_UNPACKED_BYTES, SMALL_ENTRY_BYTES } from './limits.ts';
import type { StoredFileReader } from './stored-file-reader.ts';

interface Archive {
  readonly zip: ZipFile;
  readonly reader: StoredFileReader;
}

interface File {
  readonly name: string;
  readonly entry: ZipEntry;
}

const STORED = 0;
const DEFLATED = 8;
/** Most entries of an archive, which may have a folder for each file: the directory is read to its end before anything is stored. */
const MAX_DIRECTORY_ENTRIES = 2 * MAX_ENTRIES;
/** Largest compressed size of an entry that is unpacked in memory, in bytes: no compression makes small content larger than this. */
const PACKED_LIMIT = MAX_MANIFEST_BYTES + 1024 * 1024;
const inflate = promisify<InputType, ZlibOptions, Buffer>(inflateRaw);
/** File types of Unix, in the upper half of the attributes. */
const [FILE_TYPE, LINK] = [0o170_000, 0o120_000];

/**
 * Reads the directory and the manifest; entries are unpacked one by one as they are asked for.
 * @throws ApiError `bad_request` or `payload_too_large`, or ValidationError, for a fault of the archive as a whole
 */
export async function openArchiveEntries(reader: StoredFileReader, bytes: number): Promise<AsyncGenerator<BulkEntry>> {
  const zip = await readable(() =>
    fromRandomAccessReaderPromise(reader, bytes, { decodeStrings: false, validateEntrySizes: false, autoClose: false }),
  );
  const { files, manifest } = await readDirectory(zip);
  const described =
    manifest === undefined ? new Map<string, ManifestEntry>() : await readManifest(await unpackSmall({ zip, reader }, manifest));
  return entriesOf({ zip, reader }, files, described);
}

async function* entriesOf(
  archive: Archive,
  files: readonly File[],
  described: ReadonlyMap<string, ManifestEntry>,
): AsyncGenerator<BulkEntry> {
  const missing = new Set(described.keys());
  for (const [index, { name, entry }] of files.entries()) {
    missing.delete(name);
    const shown = name.toWellFormed().slice(0, 1_024);
    try {
      yield { index, name: shown, file: await archiveEntry(archive, { name, entry }, described.get(name)) };
    } catch (error) {
      yield { index, name: shown, failure: entryFailure(error).failure };
    }
  }
  let index = files.length;
  for (const name of missing) {
    yield { index, name, failure: { code: 'not_found', message: `the manifest names this file, and the archive does not have it` } };
    index += 1;
  }
}

async function archiveEntry(archive: Archive, file: File, described: ManifestEntry | undefined): Promise<SoundEntry> {
  const { name, entry } = file;
  const fault = pathFault(name);
  if (fault !== undefined) throw new EntryError({ code: 'bad_request', message: fault });
  const names = requireFileName(baseName(name));
  requireReadable(entry);
  const content = entry.uncompressedSize <= SMALL_ENTRY_BYTES ? await unpackSmall(archive, file) : async () => unpacked(archive.zip, entry);
  return { ...names, metadata: {}, idempotencyKey: undefined, ...described, content };
}

function requireReadable(entry: ZipEntry): void {
  if (((entry.externalFileAttributes >>> 16) & FILE_TYPE) === LINK)
    throw new EntryError({ code: 'bad_request', message: 'this is a link and no file: put the file itself into the archive' });
  if (entry.isEncrypted())
    throw new EntryError({ code: 'bad_request', message: 'the entry is protected with a password: make the archive without one' });
  if (entry.compressionMethod !== STORED && entry.compressionMethod !== DEFLATED)
    throw new EntryError({
      code: 'unsupported_media_type',
      message: `the entry is compressed with method ${entry.compressionMethod}: only stored and deflated entries are read`,
    });
  if (entry.uncompressedSize > MAX_FILE_BYTES) throw tooLargeFile();
}

async function readDirectory(zip: ZipFile): Promise<{ readonly files: readonly File[]; readonly manifest: File | undefined }> {
  if (zip.entryCount > MAX_DIRECTORY_ENTRIES) throw tooManyFiles();
  const files: File[] = [];
  let manifest: File | undefined;
  let declared = 0;
  let largest: File | undefined;
  await readable(async () => {
    // The directory's pages are in memory.
    for await (const entry of paced(zip.eachEntry())) {
      const name = archiveName(entry);
      declared += entry.uncompressedSize;
      if (largest === undefined || entry.uncompressedSize > largest.entry.uncompressedSize) largest = { name, entry };
      refuseBomb(declared, zip.fileSize, largest);
      if (isNoFile(name)) continue;
      if (name === MANIFEST) manifest = requireManifest({ name, entry });
      else files.push({ name, entry });
      if (files.length > MAX_ENTRIES) throw tooManyFiles();
    }
  });
  return { files, manifest };
}

function requireManifest(file: File): File {
  if (file.entry.uncompressedSize <= MAX_MANIFEST_BYTES) return file;
  throw new ApiError('payload_too_large', `${MANIFEST} in the archive may have ${MAX_MANIFEST_BYTES / 1024 / 1024} MB`);
}

function tooManyFiles(): ApiError {
  return new ApiError('payload_too_large', `an archive may have ${MAX_ENTRIES} files: make several archives`);
}

/** Refuses an archive that unpacks to too much. It names a file that makes up more than half of that: the others may be fine. */
function refuseBomb(inflated: number, packed: number, { name, entry }: File): void {
  const tooMuch = inflated > MAX_UNPACKED_BYTES;
  if (!tooMuch && (inflated <= ARCHIVE_LIMITS.ratioFloorBytes || inflated <= packed * ARCHIVE_LIMITS.ratio)) return;
  const limit = tooMuch ? `more than ${MAX_UNPACKED_BYTES / 1024 / 1024} MB` : `more than ${ARCHIVE_LIMITS.ratio} times its size`;
  const isOneFile = entry.uncompressedSize > inflated / 2;
  const cure = isOneFile ? `, most of it in "${name.toWellFormed().slice(0, 200)}": leave that file out` : ': make several archives';
  throw new ApiError('payload_too_large', `unpacked, the archive has ${limit}${cure}`);
}

/** Unpacks small content without streams, which would cost more than the content. @throws EntryError for damaged content */
async function unpackSmall({ zip, reader }: Archive, { entry }: File): Promise<Buffer> {
  requireReadable(entry);
  if (entry.compressedSize > PACKED_LIMIT) throw damaged();
  try {
    const { fileDataStart: start } = await zip.readLocalFileHeaderPromise(entry, { minimal: true });
    const packed = await reader.bytes(start, start + entry.compressedSize);
    const options = { maxOutputLength: Math.max(1, entry.uncompressedSize) };
    const content = entry.compressionMethod === STORED ? packed : await inflate(packed, options);
    if (content.length !== entry.uncompressedSize || crc32(content) !== entry.crc32) throw damaged();
    return content;
  } catch (error) {
    throw entryFailure(error);
  }
}

function unpacked(zip: ZipFile, entry: ZipEntry): Readable {
  return Readable.from(unpackedPieces(zip, entry), { objectMode: false });
}

/** Unpacks at most the size in the directory, from which the total was computed. @throws EntryError for damaged content */
async function* unpackedPieces(zip: ZipFile, entry: ZipEntry): AsyncGenerator<Buffer> {
  let bytes = 0;
  let sum = 0;
  try {
    for await (const piece of (await zip.openReadStreamPromise(entry)) as AsyncIterable<Buffer>) {
      bytes += piece.length;
      if (bytes > entry.uncompressedSize) break;
      sum = crc32(piece, sum);
      yield piece;
    }
  } catch (error) {
    throw entryFailure(error);
  }
  if (bytes !== entry.uncompressedSize || sum !== entry.crc32) throw damaged();
}

function damaged(cause?: unknown): EntryError {
  return new EntryError(
    { code: 'bad_request', message: 'the entry is damaged, or is not what the directory of the archive says: make the archive again' },
    { cause },
  );
}

/** Translates the failure of reading an entry; an unavailable storage fails the request instead. */
function entryFailure(error: unknown): EntryError {
  if (error instanceof EntryError) return error;
  if (error instanceof StorageError || error instanceof ApiError) throw error;
  return damaged(error);
}

async function readable<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ApiError || error instanceof StorageError) throw error;
    throw new ApiError('bad_request', `this is no zip archive that can be read (${(error as Error).message}): make it again`, {
      cause: error,
    });
  }
}
